"""Edit operations on a procedure, by a person or a model, with the JSON form of each.

Nodes are named by their id. Parts that an operation does not name stay as they are, with their
lines.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from services.kit.text import visible_text
from services.runbook.editing.errors import UnusableOperationError
from services.runbook.model import (
    Arm,
    Body,
    EndKind,
    Guard,
    LineRange,
    Mode,
    Node,
    NotationModel,
    Remark,
)

MOST_OPERATIONS = 100
MOST_COMMANDS = 50
MOST_NOTES = 100
LONGEST_TEXT = 4_000
"""Characters of a text or command."""


def _clean_reference(value: object) -> object:
    """Normalise an id as people and models write it: `n4`, `4`, `#n4`, `[n4]`, `{"id": "n4"}`."""
    if isinstance(value, Mapping):
        value = value.get("id", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"n{value}"
    return value.strip().strip("`'\"[]#@").strip() if isinstance(value, str) else value


def _ordered(lines: tuple[LineRange, ...]) -> tuple[LineRange, ...]:
    if any(not 1 <= first <= last for first, last in lines):
        raise ValueError(f"expected line ranges [first, last] with 1 ≤ first ≤ last: {lines}")
    return lines


def _not_blank(text: str) -> str:
    if not visible_text(text).strip():
        raise ValueError("expected some words")
    return text.strip()


def _as_list(value: object) -> object:
    """Wrap a single value in a list."""
    return value if value is None or isinstance(value, list | tuple) else [value]


Ref = Annotated[str, BeforeValidator(_clean_reference), Field(min_length=1, max_length=200)]
"""The id of a node or arm."""
BodyRef = Ref
"""The name of a body.

`steps`, `verification`, `escalation`, a part's name, the id of an arm or loop, or `ID.otherwise`
of a choice.
"""
Lines = Annotated[tuple[LineRange, ...], AfterValidator(_ordered)]
Words = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_not_blank)]
Commands = Annotated[
    tuple[Annotated[str, Field(max_length=LONGEST_TEXT)], ...],
    BeforeValidator(_as_list),
    Field(max_length=MOST_COMMANDS),
]
# The notation has a page of its own; in descriptions of the API it is an object.
_NOTATION = "In the notation of readings: docs/reference/procedures.md."
NodeInput = Annotated[Node, WithJsonSchema({"type": "object", "description": _NOTATION})]
ArmInput = Annotated[Arm, WithJsonSchema({"type": "object", "description": _NOTATION})]
GuardInput = Annotated[
    Guard,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}], "description": _NOTATION}),
]
Steps = Annotated[
    Body,
    BeforeValidator(_as_list),
    WithJsonSchema({"type": "array", "items": {"type": "object"}, "description": _NOTATION}),
]

NotesInput = Annotated[
    tuple[Remark, ...],
    BeforeValidator(_as_list),
    Field(max_length=MOST_NOTES),
    WithJsonSchema({"type": "array", "items": {"type": "object"}, "description": _NOTATION}),
]


class _Placement(NotationModel):
    """The place of something new or moved, in one of four forms."""

    before: Ref | None = None
    after: Ref | None = None
    first_in: BodyRef | None = None
    last_in: BodyRef | None = None

    @model_validator(mode="after")
    def _one_place(self) -> "_Placement":
        places = [self.before, self.after, self.first_in, self.last_in]
        if sum(each is not None for each in places) != 1:
            raise ValueError("expected one of before, after, first_in and last_in")
        return self


class Insert(_Placement):
    """Insertion of a node with all below it, or of an arm of a choice.

    Without lines it is the person's own, and its step is marked as one that no page says.
    """

    op: Literal["insert"] = "insert"
    node: NodeInput | None = None
    arm: ArmInput | None = None
    """Another answer or remedy; its place is before or after an arm, or in a choice."""

    @model_validator(mode="after")
    def _one_thing(self) -> "Insert":
        if (self.node is None) == (self.arm is None):
            raise ValueError("expected a node or an arm")
        return self


class Delete(NotationModel):
    """Deletion of a node or arm, with the nodes below it or without them."""

    op: Literal["delete"] = "delete"
    node: Ref
    keep_below: bool = False
    """True to put the nodes below in its place, done whatever the condition was."""
    jumps_to: BodyRef | None = None
    """The new target of jumps to the deleted part; without it they are a reason to refuse."""


class Replace(NotationModel):
    """Change of a node's wording or fields; fields that are left out stay, lines too."""

    op: Literal["replace"] = "replace"
    node: Ref
    text: Words | None = None
    """The text of a step, note or end; for a choice with a question, that question."""
    commands: Commands | None = None
    expected: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = None
    core: bool | None = None
    end: EndKind | None = None
    goto: BodyRef | None = None
    mode: Mode | None = Field(default=None, alias="choice")
    notes: NotesInput | None = None
    """All notes that stand in the node, in place of those it has."""
    lines: Lines | None = Field(default=None, alias="at")


class Move(_Placement):
    """Move of a node with all below it; an arm goes before or after another one."""

    op: Literal["move"] = "move"
    node: Ref
    jumps_to: BodyRef | None = None


class How(StrEnum):
    """The change to a condition."""

    PUT = "put"
    """Put the nodes under a new condition."""
    CHANGE = "change"
    """Give the arm, or the end of the loop, another condition."""
    NEGATE = "negate"
    """Negate the condition."""
    REMOVE = "remove"
    """Remove the condition: its steps are always done."""


class ChangeGuard(NotationModel):
    """Change of a condition: nodes are put under it, or it is changed, negated or removed."""

    op: Literal["guard"] = "guard"
    nodes: Annotated[tuple[Ref, ...], BeforeValidator(_as_list)] = Field(
        min_length=1, max_length=MOST_OPERATIONS
    )
    """Consecutive nodes for a new condition; else one arm, loop, or step under the arm."""
    how: How | None = None
    """The change; by default `when` changes an arm's condition, and is put over other nodes."""
    when: GuardInput | None = None
    otherwise: Steps | None = None
    """Steps if a new condition does not hold; by default the program goes on."""
    lines: Lines | None = Field(default=None, alias="at")
    """The lines that say the condition."""

    @model_validator(mode="before")
    @classmethod
    def _one_node(cls, document: object) -> object:
        if isinstance(document, Mapping) and "node" in document and "nodes" not in document:
            left = {key: value for key, value in document.items() if key != "node"}
            return {**left, "nodes": document["node"]}
        return document

    @model_validator(mode="after")
    def _with_condition(self) -> "ChangeGuard":
        is_new = self.how in {How.PUT, How.CHANGE, None}
        if is_new != (self.when is not None):
            raise ValueError(
                "expected a condition in `when`" if is_new else "expected no condition in `when`"
            )
        if self.otherwise is not None and self.how not in {How.PUT, None}:
            raise ValueError("`otherwise` goes with a new condition: there is an operation for it")
        return self


class SetOtherwise(NotationModel):
    """The alternative if no condition of a choice holds, in one of five forms."""

    op: Literal["otherwise"] = "otherwise"
    node: Ref
    """The choice, or one of its arms."""
    end: EndKind | None = None
    text: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""
    """The text of the end."""
    goto: BodyRef | None = None
    go_on: bool = False
    """True if nothing is done and the program goes on behind the choice."""
    unsaid: bool = False
    """True if the page does not say it: without further steps it counts as not covered."""
    steps: Steps | None = None
    lines: Lines | None = Field(default=None, alias="at")
    """The lines that say the end or the jump."""
    jumps_to: BodyRef | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "SetOtherwise":
        ways = (self.end is not None, self.goto is not None, self.steps is not None)
        if sum((*ways, self.go_on, self.unsaid)) != 1:
            raise ValueError("expected one of end, goto, go_on, unsaid and steps")
        return self


class SetParameter(NotationModel):
    """Replacement of a literal by a placeholder `<name>`, or the value of a placeholder."""

    op: Literal["parameter"] = "parameter"
    name: Annotated[str, Field(pattern=r"^<?[A-Za-z][\w .:/-]{0,60}>?$")]
    literal: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The text to replace, as a whole word: `leaf-1` is not found in `leaf-10`."""
    value: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The value for placeholders of this name."""
    nodes: Annotated[tuple[Ref, ...] | None, BeforeValidator(_as_list)] = None
    """The nodes to change, with all below them; None for all steps and conditions."""

    @model_validator(mode="after")
    def _one_direction(self) -> "SetParameter":
        if (self.literal is None) == (self.value is None):
            raise ValueError("expected literal (what to replace) or value (what to fill in)")
        return self


Operation = Annotated[
    Insert | Delete | Replace | Move | ChangeGuard | SetOtherwise | SetParameter,
    Field(discriminator="op"),
]

_OPERATION: TypeAdapter[Operation] = TypeAdapter(Operation)


def parse_operations(document: object) -> tuple[Operation, ...]:
    """Parse operations: a list, a single one, or an object with a list `operations`.

    Raises:
        UnusableOperationError: One is invalid; the error says which and why.
    """
    if isinstance(document, Mapping):
        document = document.get("operations", [document])
    if not isinstance(document, Sequence) or isinstance(document, str):
        raise UnusableOperationError("expected a list of operations")
    if not 1 <= len(document) <= MOST_OPERATIONS:
        raise UnusableOperationError(f"expected 1 to {MOST_OPERATIONS} operations")
    operations: list[Operation] = []
    for place, each in enumerate(document):
        name = each.get("op", "?") if isinstance(each, Mapping) else "?"
        try:
            operations.append(_OPERATION.validate_python(each))
        except (ValidationError, RecursionError) as error:
            raise UnusableOperationError(_error_text(error)).of(place, str(name)[:40]) from error
    return tuple(operations)


def _error_text(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    detail = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in detail["loc"][1:])
    what = str(detail["msg"]).removeprefix("Value error, ")
    return (f"{where}: {what}" if where else what)[:500]
