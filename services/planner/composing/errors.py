"""Refusals of the composer."""

from services.kit.errors import ConflictError, InvalidInputError


class NothingToComposeError(InvalidInputError):
    """The instruction contains nothing to do, or both instruction and draft are missing."""


class BadDraftError(InvalidInputError):
    """A draft that was sent back does not come from this platform."""


class NotReadyError(InvalidInputError):
    """A draft with open questions, errors or a missing confirmation cannot be proposed."""


class NotUnderstoodError(InvalidInputError):
    """No operations could be made of the sentence."""


class NeedsModelError(ConflictError):
    """The request needs a language model, and none is set."""
