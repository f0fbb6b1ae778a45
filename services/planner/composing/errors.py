"""Why something is not composed."""

from services.kit.errors import ConflictError, InvalidInputError


class NothingToComposeError(InvalidInputError):
    """The instruction tells nothing that could be done, or there is neither one nor a draft."""


class BadDraftError(InvalidInputError):
    """A draft that was sent back is none of this place."""


class NotReadyError(InvalidInputError):
    """A draft with open questions, errors or unsaid words is not proposed."""


class NotUnderstoodError(InvalidInputError):
    """No operations could be made of the sentence."""


class NeedsModelError(ConflictError):
    """It cannot be done by rules alone, and no language model is set."""
