"""The kinds of damage that a workflow can be given."""

from enum import StrEnum

from services.kit.errors import InvalidInputError

SEVERITIES = (0.1, 0.3, 0.5)
"""Shares of the steps, of the decisions, or of the occasions, that are touched."""


class PerturbationError(InvalidInputError):
    """The workflow has nothing that could be perturbed in the way asked for."""


class Perturbation(StrEnum):
    """What happens to the touched steps."""

    MISSING = "missing"
    """They disappear; what led to them leads to what followed."""
    SHUFFLED = "shuffled"
    """They exchange places."""
    FOREIGN = "foreign"
    """Steps of another workflow come in between."""
    REWORDED = "reworded"
    """They say the same in other words: a scorer should not mind."""
    SWAPPED = "swapped"
    """Decisions exchange the targets of two exits."""
    UNGUARDED = "unguarded"
    """They stand before the question under whose answer they belong: everybody does them."""
    ESCALATED = "escalated"
    """An escalation that stood under a condition ends every path."""
    PRECONDITION_LOST = "precondition lost"
    """The decision or check that stands before them is gone; they stay."""
    STOP_LOST = "stop lost"
    """A path that ended before the next step goes on with it."""
    JUMP_LOST = "jump lost"
    """What led back, or past some steps, leads to the next step."""
    NEIGHBOUR = "neighbour"
    """Remedies of two branches exchange places."""
    NOT_REJOINED = "not rejoined"
    """A branch that came back to the common path ends."""
    INVENTED_GATE = "invented gate"
    """A step that everybody does gets a question of its own, with a way past it."""


TO_STEPS = (
    Perturbation.MISSING,
    Perturbation.SHUFFLED,
    Perturbation.FOREIGN,
    Perturbation.REWORDED,
    Perturbation.SWAPPED,
)
"""Kinds that touch any steps at random; the others are mistakes as readers of a page make them."""
