"""What a workflow claims about its page, one claim at a time."""

from enum import StrEnum
from typing import NamedTuple


class FactKind(StrEnum):
    """What a fact is about."""

    GUARD = "guard"
    """A step is done only on this answer of this question."""
    FREE = "free"
    """A step is done whatever is answered."""
    ARROW = "arrow"
    """One step follows another, on this answer where a question is answered."""
    QUESTION = "question"
    """The page asks this."""
    END = "end"
    """The work ends with this step."""


class Fact(NamedTuple):
    """One claim; ids are those of the workflow's steps."""

    kind: FactKind
    step: str
    """The step that is claimed about; of an arrow, where it begins."""
    other: str = ""
    """The question of a guard, the end of an arrow."""
    answer: str = ""
    """In lower case."""
