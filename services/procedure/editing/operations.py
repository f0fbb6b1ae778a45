"""What a person, or a model for them, changes of a procedure; the JSON form of each.

Nodes are named by their id. What an operation does not name stays as it is, with its lines.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from services.procedure.editing.errors import UnusableOperationError
from services.procedure.model import Arm, Body, EndKind, Guard, LineRange, Mode, Node, Noun

MOST_OPERATIONS = 100
MOST_COMMANDS = 50
LONGEST = 4_000
"""Characters of a text or command."""


def _reference(given: object) -> object:
    """An id as people and models write it: `n4`, `4`, `#n4`, `[n4]`, `{"id": "n4"}`."""
    if isinstance(given, Mapping):
        given = given.get("id", given)
    if isinstance(given, int) and not isinstance(given, bool):
        return f"n{given}"
    return given.strip().strip("`'\"[]#@").strip() if isinstance(given, str) else given


def _ordered(lines: tuple[LineRange, ...]) -> tuple[LineRange, ...]:
    if any(not 1 <= first <= last for first, last in lines):
        raise ValueError(f"expected line ranges [first, last] with 1 ≤ first ≤ last: {lines}")
    return lines


def _worded(text: str) -> str:
    if not text.strip():
        raise ValueError("expected some words")
    return text.strip()


def _several(given: object) -> object:
    """One thing where a list is expected is a list of it."""
    return given if given is None or isinstance(given, list | tuple) else [given]


Ref = Annotated[str, BeforeValidator(_reference), Field(min_length=1, max_length=200)]
"""The id of a node or arm."""
BodyRef = Ref
"""A body: `steps`, `verification`, `escalation`, a part's name, the id of an arm or loop, or
`ID.otherwise` of a choice."""
Lines = Annotated[tuple[LineRange, ...], AfterValidator(_ordered)]
Words = Annotated[str, Field(max_length=LONGEST), AfterValidator(_worded)]
Commands = Annotated[
    tuple[Annotated[str, Field(max_length=LONGEST)], ...],
    BeforeValidator(_several),
    Field(max_length=MOST_COMMANDS),
]
# The notation has a page of its own; in descriptions of the API it is an object.
_NOTATION = "In the notation of readings: docs/reference/procedures.md."
GivenNode = Annotated[Node, WithJsonSchema({"type": "object", "description": _NOTATION})]
GivenArm = Annotated[Arm, WithJsonSchema({"type": "object", "description": _NOTATION})]
GivenGuard = Annotated[
    Guard,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}], "description": _NOTATION}),
]
Steps = Annotated[
    Body,
    BeforeValidator(_several),
    WithJsonSchema({"type": "array", "items": {"type": "object"}, "description": _NOTATION}),
]


class _Placed(Noun):
    """Says where something goes, in one of four ways."""

    before: Ref | None = None
    after: Ref | None = None
    first_in: BodyRef | None = None
    last_in: BodyRef | None = None

    @model_validator(mode="after")
    def _one_place(self) -> "_Placed":
        given = [self.before, self.after, self.first_in, self.last_in]
        if sum(each is not None for each in given) != 1:
            raise ValueError("expected one of before, after, first_in and last_in")
        return self


class Insert(_Placed):
    """Put something new in: a node with all below it, or an arm of a choice.

    Without lines it is the person's own, and its step is marked as one that no page says.
    """

    op: Literal["insert"] = "insert"
    node: GivenNode | None = None
    arm: GivenArm | None = None
    """Another answer or remedy; its place is before or after an arm, or in a choice."""

    @model_validator(mode="after")
    def _one_thing(self) -> "Insert":
        if (self.node is None) == (self.arm is None):
            raise ValueError("expected a node or an arm")
        return self


class Delete(Noun):
    """Take a node or arm out, with all below it or but for that."""

    op: Literal["delete"] = "delete"
    node: Ref
    keep_below: bool = False
    """What is below it takes its place, and is done whatever the condition was."""
    jumps_to: BodyRef | None = None
    """Where jumps go on that led to what is gone; without it they are a reason to refuse."""


class Replace(Noun):
    """Say a node otherwise; what is not given stays, its lines too."""

    op: Literal["replace"] = "replace"
    node: Ref
    text: Words | None = None
    """Of a step, note or end; of a choice with a question, that question."""
    commands: Commands | None = None
    expected: Annotated[str, Field(max_length=LONGEST)] | None = None
    core: bool | None = None
    end: EndKind | None = None
    goto: BodyRef | None = None
    mode: Mode | None = Field(default=None, alias="choice")
    lines: Lines | None = Field(default=None, alias="at")


class Move(_Placed):
    """Put a node, with all below it, elsewhere; an arm before or after another one."""

    op: Literal["move"] = "move"
    node: Ref
    jumps_to: BodyRef | None = None


class How(StrEnum):
    """What becomes of a condition."""

    PUT = "put"
    """The nodes go under a new one."""
    CHANGE = "change"
    """The arm, or the end of the loop, gets another one."""
    NEGATE = "negate"
    """It holds when it did not."""
    REMOVE = "remove"
    """What was under it is done always."""


class ChangeGuard(Noun):
    """Put nodes under a condition, change or negate it, or take it away."""

    op: Literal["guard"] = "guard"
    nodes: Annotated[tuple[Ref, ...], BeforeValidator(_several)] = Field(
        min_length=1, max_length=MOST_OPERATIONS
    )
    """To put: nodes that follow one another. Else: an arm or loop, or a step under the arm."""
    how: How | None = None
    """Without it, `when` changes the condition of an arm and is put over anything else."""
    when: GivenGuard | None = None
    otherwise: Steps | None = None
    """To put: what is done when it does not hold; without it the program goes on."""
    lines: Lines | None = Field(default=None, alias="at")
    """Those that say the condition."""

    @model_validator(mode="before")
    @classmethod
    def _one_node(cls, given: object) -> object:
        if isinstance(given, Mapping) and "node" in given and "nodes" not in given:
            left = {key: value for key, value in given.items() if key != "node"}
            return {**left, "nodes": given["node"]}
        return given

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


class SetOtherwise(Noun):
    """Say what is done when no condition of a choice holds, in one of five ways."""

    op: Literal["otherwise"] = "otherwise"
    node: Ref
    """The choice, or one of its arms."""
    end: EndKind | None = None
    text: Annotated[str, Field(max_length=LONGEST)] = ""
    """Of the end."""
    goto: BodyRef | None = None
    go_on: bool = False
    """Nothing: the program goes on behind the choice."""
    unsaid: bool = False
    """The page does not say it: what follows is told as not covered where nothing is left."""
    steps: Steps | None = None
    lines: Lines | None = Field(default=None, alias="at")
    """Those that say the end or the jump."""
    jumps_to: BodyRef | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "SetOtherwise":
        given = (self.end is not None, self.goto is not None, self.steps is not None)
        if sum((*given, self.go_on, self.unsaid)) != 1:
            raise ValueError("expected one of end, goto, go_on, unsaid and steps")
        return self


class SetParameter(Noun):
    """Put a placeholder `<name>` in the place of a literal, or fill one."""

    op: Literal["parameter"] = "parameter"
    name: Annotated[str, Field(pattern=r"^<?[A-Za-z][\w .:/-]{0,60}>?$")]
    literal: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """What is replaced, where it stands alone: `leaf-1` is not found in `leaf-10`."""
    value: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """What placeholders of this name are filled with."""
    nodes: Annotated[tuple[Ref, ...] | None, BeforeValidator(_several)] = None
    """In these and below them; None: in all steps and conditions."""

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


def operations_given(given: object) -> tuple[Operation, ...]:
    """Operations of their JSON form: a list, one alone, or an object with a list `operations`.

    Raises:
        UnusableOperationError: One is none; it says which and what of it.
    """
    if isinstance(given, Mapping):
        given = given.get("operations", [given])
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise UnusableOperationError("expected a list of operations")
    if not 1 <= len(given) <= MOST_OPERATIONS:
        raise UnusableOperationError(f"expected 1 to {MOST_OPERATIONS} operations")
    return tuple(_given(place, each) for place, each in enumerate(given))


def _given(place: int, given: Any) -> Operation:  # noqa: ANN401 - JSON
    name = given.get("op", "?") if isinstance(given, Mapping) else "?"
    try:
        return _OPERATION.validate_python(given)
    except (ValidationError, RecursionError) as error:
        raise UnusableOperationError(_told(error)).of(place, str(name)[:40]) from error


def _told(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    found = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in found["loc"][1:])
    what = str(found["msg"]).removeprefix("Value error, ")
    return (f"{where}: {what}" if where else what)[:500]
