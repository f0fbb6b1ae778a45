"""Changes to a page's procedure by pointing at its blocks, with the JSON form of each.

A block is named by its key, which stays while the block does. What a change does to the procedure
is a list of operations (`services.runbook.editing.operations`).
"""

import hashlib
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from services.kit.value import Value
from services.runbook.model import EndKind, LineRange, NotationModel

BlockKey = Annotated[str, Field(min_length=1, max_length=80)]
LONGEST_ADDED = 1_000
"""Characters of an added step or note."""


class SetBox(NotationModel):
    """The block is a step to tick off, or none; that of a list or heading: each of its blocks."""

    edit: Literal["box"] = "box"
    block: BlockKey
    is_step: bool


class SetCondition(NotationModel):
    """The step of the block is done only after an answer to the question of another block."""

    edit: Literal["only_if"] = "only_if"
    block: BlockKey
    on: BlockKey | None = None
    """The block that asks, before this one on the page; None takes the condition away."""
    answer: Annotated[str, Field(min_length=1, max_length=200)] = "Yes"
    question: Annotated[str, Field(max_length=LONGEST_ADDED)] = ""
    """The question, if the words of the block that asks are none."""


class ListMode(StrEnum):
    """Relation between the items of a list."""

    ALL = "all"
    IN_ORDER = "in_order"
    """One after the other until one has helped."""
    ONE_OF = "one_of"
    SEVERAL = "several"
    """One or more, those that fit."""


class SetList(NotationModel):
    """Relation between the items of this block's list."""

    edit: Literal["list"] = "list"
    block: BlockKey
    mode: ListMode


class GoOn(NotationModel):
    """Jump from the step of the block to another block; None removes it."""

    edit: Literal["goes_on"] = "goes_on"
    block: BlockKey
    at: BlockKey | None = None


class SetNote(NotationModel):
    """The block, or each of a list, is a note of the step of another block."""

    edit: Literal["note_of"] = "note_of"
    block: BlockKey
    of: BlockKey


class SetWords(NotationModel):
    """The step of the block, or its question, in a person's words; it cites the same lines."""

    edit: Literal["words"] = "words"
    block: BlockKey
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_ADDED)]
    was: Annotated[str, Field(max_length=4 * LONGEST_ADDED)] = ""
    """The words before, which say the step where the block has several."""


class Split(NotationModel):
    """The step becomes one for each of its blocks; of one block, for each of its sentences."""

    edit: Literal["split"] = "split"
    block: BlockKey


class Join(NotationModel):
    """The step of the block becomes part of the step of another block beside it."""

    edit: Literal["join"] = "join"
    block: BlockKey
    into: BlockKey


class SetEnd(NotationModel):
    """The path ends behind the step of the block; None takes the end away."""

    edit: Literal["end"] = "end"
    block: BlockKey
    kind: EndKind | None = None


class MoveStep(NotationModel):
    """The step of the block is done before or behind that of another block."""

    edit: Literal["move"] = "move"
    block: BlockKey
    beside: BlockKey
    is_before: bool = False


class AddOwnStep(NotationModel):
    """A step of a person's own behind the block; no line of the page says it."""

    edit: Literal["add"] = "add"
    block: BlockKey
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_ADDED)]


class AddOwnNote(NotationModel):
    """A note of a person's own at the step of the block; no line of the page says it."""

    edit: Literal["remark"] = "remark"
    block: BlockKey
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_ADDED)]


BlockEdit = Annotated[
    SetBox
    | SetCondition
    | SetList
    | GoOn
    | SetNote
    | SetWords
    | Split
    | Join
    | SetEnd
    | MoveStep
    | AddOwnStep
    | AddOwnNote,
    Field(discriminator="edit"),
]

BLOCK_EDIT: TypeAdapter[BlockEdit] = TypeAdapter(BlockEdit)

_QUESTION_ID_LENGTH = 12


class PageQuestion(Value):
    """A yes/no question about what stands at a block of a page."""

    id: str
    """Stays the same while block and question do, whatever else changes on the page."""
    block: str
    """Key of the block; that of a list for all its items."""
    procedure: int = 0
    """Index of the procedure that an answer changes."""
    text: str
    yes: BlockEdit | None = None
    """Change that a Yes means; None if a Yes leaves it as it is."""
    no: BlockEdit | None = None
    """Change that a No means; None if a No leaves it as it is."""
    chance_wrong: float
    """Chance that the page is read wrongly here."""
    lines: tuple[LineRange, ...] = ()
    doubt: str = ""
    """Id of the reading's doubt that an answer settles."""

    @classmethod
    def of(cls, text: str, block: str, *, chance_wrong: float, **fields: Any) -> "PageQuestion":  # noqa: ANN401 - fields
        """Create a question whose id is made of its block and text."""
        digest = hashlib.sha256(f"{block} {text}".encode()).hexdigest()[:_QUESTION_ID_LENGTH]
        return cls(id=digest, text=text, block=block, chance_wrong=round(chance_wrong, 3), **fields)
