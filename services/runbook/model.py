"""The program of a page: its steps, their guards, loops, and the end of each path.

The JSON form is the same everywhere: what a language model writes, what is stored, what is
exported and what a person edits. The key of a node gives its kind (`do`, `choice`, `repeat`,
`goto`, `end` or `note`); a guard that is a plain question is a string. Lines are 1-based and
inclusive, counted in the converted text of the document. A program never names its document, so
that a page may move.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)

LineRange = tuple[int, int]
"""First and last line."""


class NotationModel(BaseModel):
    """The base of the notation's models: frozen, compared by content, unknown keys refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True
    )


class Sourced(NotationModel):
    """The base of everything that lines of the page say."""

    id: str = ""
    """Unique in its procedure once it is numbered; jumps and doubts name it."""
    lines: tuple[LineRange, ...] = Field(default=(), alias="at")
    confidence: float = Field(default=1.0, ge=0, le=1)
    """The reader's certainty that the page says this here, under these guards."""

    @field_validator("lines")
    @classmethod
    def _ordered(cls, lines: tuple[LineRange, ...]) -> tuple[LineRange, ...]:
        if any(not 1 <= first <= last for first, last in lines):
            raise ValueError(f"expected line ranges [first, last] with 1 ≤ first ≤ last: {lines}")
        return lines


class State(NotationModel):
    """A condition as a whole question, which Yes answers when it holds as the page words it."""

    text: str = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: object) -> object:
        return {"text": value} if isinstance(value, str) else value

    @model_serializer
    def _as_text(self) -> str:
        return self.text


class Outcome(NotationModel):
    """The outcome of an action before: a question such as whether it helped or the fault is back.

    Yes leads to what is guarded; the other answer is success where nobody says otherwise.
    """

    text: str = Field(alias="outcome", min_length=1)


class Not(NotationModel):
    """Holds when `guard` does not."""

    guard: "Guard" = Field(alias="not")


class All(NotationModel):
    """Holds when each of `guards` does; they are asked in this order."""

    guards: tuple["Guard", ...] = Field(alias="all", min_length=1)


class Some(NotationModel):
    """Holds when at least one of `guards` does; they are asked in this order."""

    guards: tuple["Guard", ...] = Field(alias="some", min_length=1)


def _guard_tag(value: object) -> str:
    if isinstance(value, str | State):
        return "state"
    keys = value if isinstance(value, Mapping) else {type(value).__name__.lower(): 0}
    return next((key for key in ("outcome", "not", "all", "some") if key in keys), "state")


Guard = Annotated[
    Annotated[State, Tag("state")]
    | Annotated[Outcome, Tag("outcome")]
    | Annotated[Not, Tag("not")]
    | Annotated[All, Tag("all")]
    | Annotated[Some, Tag("some")],
    Discriminator(_guard_tag),
]
"""The condition under which something is done."""


class Remark(Sourced):
    """What holds while the procedure is done, and is no step: a standing rule, a warning."""

    text: str = Field(alias="note", min_length=1)


class Noted(Sourced):
    """The base of nodes that notes may stand in."""

    notes: tuple[Remark, ...] = ()
    """Cautions, legends and remarks to be read together with the node."""


class Do(Noted):
    """One action that an engineer could tick off, as an imperative."""

    text: str = Field(alias="do", min_length=1)
    core: bool = False
    """True if the procedure was not carried out without this step."""
    commands: tuple[str, ...] = ()
    """Commands, verbatim from its lines and in their order."""
    expected: str = ""
    """Output that the page shows for these commands."""


class Mode(StrEnum):
    """How the arms of a choice go together."""

    EXCLUSIVE = "exclusive"
    """The first arm whose guard holds is taken, then the program goes on behind the choice."""
    IN_ORDER = "in_order"
    """Each arm is tried until one has helped; behind the last, nothing has helped."""
    ANY = "any"
    """Several guards may hold at once: each is asked, each arm that holds is done."""
    FREE = "free"
    """The reader of the page chooses one: the page offers the arms as options."""
    SEVERAL = "several"
    """The reader of the page chooses one or more: each arm leads back to the others."""


class Arm(Sourced):
    """What is done when its guard holds; `lines` are those that say the guard."""

    guard: Guard | None = Field(default=None, alias="when")
    """The condition, or the answer in a choice with a question."""
    body: "Body" = Field(default=(), alias="steps")


class Choice(Noted):
    """Alternatives. A condition is an exclusive choice with one arm."""

    mode: Mode = Field(alias="choice")
    question: str = ""
    """The one question that the guards of the arms answer, if there is one."""
    arms: tuple[Arm, ...] = Field(min_length=1)
    otherwise: "Body | None" = None
    """The body that is done if no guard holds; None if the page does not say."""


class Loop(Noted):
    """The body is done, then again until the guard holds."""

    body: "Body" = Field(alias="repeat", min_length=1)
    until: Guard


class Jump(Sourced):
    """Goes on at the node of this id, at the part of this name, or at `start`."""

    target: str = Field(alias="goto", min_length=1)


class EndKind(StrEnum):
    """What the end of a path means."""

    RESOLVED = "resolved"
    ESCALATE = "escalate"
    OTHER_PAGE = "other_page"
    NOT_THIS_FAULT = "not_this_fault"
    STOP = "stop"
    """The page says no more: it neither mends the fault here nor hands over."""


class End(Noted):
    """Where a path ends, in the words of the page."""

    kind: EndKind = Field(alias="end")
    text: str = ""
    commands: tuple[str, ...] = ()


_KEYS = ("do", "choice", "repeat", "goto", "end", "note")
_KEY_OF = {"Do": "do", "Choice": "choice", "Loop": "repeat", "Jump": "goto", "End": "end"}


def _node_tag(value: object) -> str:
    if isinstance(value, Mapping):
        return next((key for key in _KEYS if key in value), "do")
    return _KEY_OF.get(type(value).__name__, "note")


Node = Annotated[
    Annotated[Do, Tag("do")]
    | Annotated[Choice, Tag("choice")]
    | Annotated[Loop, Tag("repeat")]
    | Annotated[Jump, Tag("goto")]
    | Annotated[End, Tag("end")]
    | Annotated[Remark, Tag("note")],
    Discriminator(_node_tag),
]

Body = tuple[Node, ...]
"""Nodes that are done in this order."""

ChangeNode = Callable[[Node], Body]
ChangeArm = Callable[[Arm], Arm]
ChangeBody = Callable[[str, Body], Body]

VERIFICATION = "verification"
ESCALATION = "escalation"
START = "start"
OTHERWISE = ".otherwise"
"""The suffix of a choice's id that names its `otherwise` body."""


class Purpose(StrEnum):
    """Purpose of a procedure."""

    FAULT = "fault"
    """Repair of a fault, whose end asks whether it worked."""
    TASK = "task"
    """Work that was ordered, or a search for facts, which ends with its steps."""


class Procedure(NotationModel):
    """What one page tells for one fault or task."""

    title: str
    purpose: Purpose = Field(default=Purpose.FAULT, alias="for")
    treats: str = ""
    """The fault or task in a sentence: what a ticket is compared with."""
    lines: tuple[LineRange, ...] = Field(default=(), alias="at")
    """The lines of the procedure, heading included."""
    body: Body = Field(alias="steps")
    verification: Body = ()
    """The check whether a remedy worked: every remedy leads here."""
    escalation: Body = ()
    """The steps that are done if nothing helped."""
    parts: dict[str, Body] = {}
    """Shared pieces that jumps lead to, by name."""
    begun_from_boxes: bool = False
    """True if it began as the boxes of the page, one after the other.

    Nobody has been asked for its decisions yet: unless its approver says otherwise, an approval is
    of the boxes alone.
    """

    @property
    def bodies(self) -> dict[str, Body]:
        """All bodies by the name that a jump gives them."""
        named = {START: self.body, VERIFICATION: self.verification, ESCALATION: self.escalation}
        return {**named, **self.parts}

    def walk(self) -> Iterator[Node]:
        """Yield all nodes in the order of the text, those of parts last."""
        for body in self.bodies.values():
            yield from walk(body)

    def sourced(self) -> Iterator[Node | Arm]:
        """Yield everything with an id and lines: nodes and arms, in the order of the text."""
        for node in self.walk():
            yield node
            yield from node.arms if isinstance(node, Choice) else ()

    def map(
        self,
        *,
        node: ChangeNode = lambda node: (node,),
        arm: ChangeArm = lambda arm: arm,
        body: ChangeBody = lambda _, body: body,
        order: Literal["up", "down"] = "up",
    ) -> "Procedure":
        """Return the procedure with its nodes, arms and bodies changed.

        A loop or part that becomes empty is removed; an `otherwise` that gets nodes is added.

        Args:
            node: Returns the nodes that take a node's place.
            arm: Returns the changed arm.
            body: Returns the changed body, after its nodes; its name is that of a jump, the id of
                an arm or loop, or the id of a choice with `OTHERWISE`.
            order: `up` changes what is below a node or arm before it, `down` after it.
        """
        rewriter = _Rewriter(node, arm, body, is_up=order == "up")
        update = {
            "body": rewriter.body(START, self.body),
            "verification": rewriter.body(VERIFICATION, self.verification),
            "escalation": rewriter.body(ESCALATION, self.escalation),
            "parts": {
                name: changed
                for name, part in self.parts.items()
                if (changed := rewriter.body(name, part)) or not part
            },
        }
        return self.model_copy(update=update)


@dataclass(frozen=True)
class _Rewriter:
    """The recursion of `Procedure.map`."""

    change_node: ChangeNode
    change_arm: ChangeArm
    change_body: ChangeBody
    is_up: bool

    def body(self, name: str, original: Body) -> Body:
        return self.change_body(name, tuple(new for node in original for new in self._node(node)))

    def _node(self, node: Node) -> Body:
        if not self.is_up:
            return tuple(new for each in self.change_node(node) for new in self._below(each))
        return tuple(new for each in self._below(node) for new in self.change_node(each))

    def _below(self, node: Node) -> Body:
        """Return the node with all below it changed; nothing for a loop that repeats nothing."""
        if isinstance(node, Loop):
            inside = self.body(node.id, node.body)
            return (node.model_copy(update={"body": inside}),) if inside else ()
        if not isinstance(node, Choice):
            return (node,)
        arms = tuple(map(self._arm, node.arms))
        otherwise = self.body(f"{node.id}{OTHERWISE}", node.otherwise or ())
        is_silent = node.otherwise is None and not otherwise
        update = {"arms": arms, "otherwise": None if is_silent else otherwise}
        return (node.model_copy(update=update),)

    def _arm(self, arm: Arm) -> Arm:
        arm = arm if self.is_up else self.change_arm(arm)
        arm = arm.model_copy(update={"body": self.body(arm.id, arm.body)})
        return self.change_arm(arm) if self.is_up else arm


class DoubtKind(StrEnum):
    """The subject of a doubt."""

    CONDITION = "condition"
    """The guard of a node is in doubt."""
    STEP = "step"
    """The page may not tell to do this at all."""
    MISSING = "missing"
    """A part of the page that was not read as a step may be one."""
    EXIT = "exit"
    """The target of an answer, or of the end of something, is in doubt."""


class Answer(NotationModel):
    """A way to settle a doubt."""

    text: str
    replace: Body | None = None
    """The body that takes the node's place; None leaves the node as it was read."""


class Doubt(NotationModel):
    """A question about a reading that its lines leave open, or that readers answer differently."""

    id: str
    kind: DoubtKind
    node: str
    """The id of the node that it is about."""
    procedure: int = 0
    """The index of its procedure in the reading."""
    question: str
    lines: tuple[LineRange, ...] = Field(default=(), alias="at")
    answers: tuple[Answer, ...] = ()
    ticket: str = ""
    """The id of the ticket on which an engineer found the step wrong; empty for other doubts.

    Such doubts are kept beside the reading and never exported.
    """


class Reader(StrEnum):
    """The kind of reader that made a reading."""

    RULES = "rules"
    """Rules over the page's words, up to version 17 of them.

    Stored readings can still be loaded but are not used; what people approved of them counts as
    theirs.
    """
    COMPOSED = "composed"
    """Rules that wrote the page together with the procedure, on somebody's request."""
    IMPORTED = "imported"
    MODEL = "model"
    PERSON = "person"


class LeftOutReason(StrEnum):
    """Reason why lines of a page are in no step."""

    BACKGROUND = "background"
    """Explanation that nobody acts on."""
    EXAMPLE = "example"
    """Sample of what something may look like."""
    REPEATED = "repeated"
    """Repetition of what a step cites elsewhere."""
    OTHER = "other"
    """Part of a fault or task of another page."""
    REFERENCE = "reference"
    """Links for reading, contents, licence."""


class LeftOut(NotationModel):
    """Lines that a reader saw and took for no part of a procedure."""

    lines: tuple[LineRange, ...] = Field(alias="at", min_length=1)
    reason: LeftOutReason = Field(alias="why")


class Reading(NotationModel):
    """The procedures of one text, with the reader that made them."""

    reader: Reader
    version: str = ""
    """The name and version of the prompt."""
    model: str = ""
    procedures: tuple[Procedure, ...] = ()
    """The procedures; empty if the page describes none."""
    doubts: tuple[Doubt, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def walk(body: Body) -> Iterator[Node]:
    """Yield the nodes of a body and all nodes below them, in order."""
    for node in body:
        yield node
        for below in bodies_of(node):
            yield from walk(below)


def bodies_of(node: Node) -> list[Body]:
    """Return the bodies directly below a node."""
    if isinstance(node, Choice):
        return [arm.body for arm in node.arms] + ([node.otherwise] if node.otherwise else [])
    return [node.body] if isinstance(node, Loop) else []


def questions(guard: Guard | None) -> Iterator[State | Outcome]:
    """Yield the questions of a guard, in order."""
    match guard:
        case State() | Outcome():
            yield guard
        case Not():
            yield from questions(guard.guard)
        case All() | Some():
            for each in guard.guards:
                yield from questions(each)


def as_json(model: NotationModel) -> dict[str, Any]:
    """Return the short JSON form, with the notation's keys and without defaults."""
    document: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return document


for _model in (Not, All, Some, Arm, Choice, Loop, Procedure, Answer, Doubt, Reading):
    _model.model_rebuild()
