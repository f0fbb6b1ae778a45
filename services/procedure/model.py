"""The program of a page: what is done, under which guards, until when, and where each path ends.

The JSON form is the same everywhere: what a language model writes, what is stored, what is
exported and what a person edits. A node is told by its key (`do`, `choice`, `repeat`, `goto`,
`end` or `note`), a guard that is a plain question by being a string. Lines are 1-based and
inclusive, counted in the converted text of the document; a document's id stands nowhere, so that
a page may move.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

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


class Noun(BaseModel):
    """Compared by content, never changed in place; unknown keys are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True
    )


class Sourced(Noun):
    """Something that lines of the page say."""

    id: str = ""
    """Unique in its procedure once it is numbered; jumps and doubts name it."""
    lines: tuple[LineRange, ...] = Field(default=(), alias="at")
    confidence: float = Field(default=1.0, ge=0, le=1)
    """How sure the reader is that the page says this here, under these guards."""

    @field_validator("lines")
    @classmethod
    def _ordered(cls, lines: tuple[LineRange, ...]) -> tuple[LineRange, ...]:
        if any(not 1 <= first <= last for first, last in lines):
            raise ValueError(f"expected line ranges [first, last] with 1 ≤ first ≤ last: {lines}")
        return lines


class State(Noun):
    """A condition as a whole question, which Yes answers when it holds as the page words it."""

    text: str = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: object) -> object:
        return {"text": given} if isinstance(given, str) else given

    @model_serializer
    def _as_text(self) -> str:
        return self.text


class Outcome(Noun):
    """The outcome of an action before: a question such as whether it helped or the fault is back.

    Yes leads to what is guarded; the other answer is success where nobody says otherwise.
    """

    text: str = Field(alias="outcome", min_length=1)


class Not(Noun):
    """Holds when `guard` does not."""

    guard: "Guard" = Field(alias="not")


class All(Noun):
    """Holds when each of `guards` does; they are asked in this order."""

    guards: tuple["Guard", ...] = Field(alias="all", min_length=1)


class Some(Noun):
    """Holds when at least one of `guards` does; they are asked in this order."""

    guards: tuple["Guard", ...] = Field(alias="some", min_length=1)


def _guard_tag(given: object) -> str:
    if isinstance(given, str | State):
        return "state"
    keys = given if isinstance(given, Mapping) else {type(given).__name__.lower(): 0}
    return next((key for key in ("outcome", "not", "all", "some") if key in keys), "state")


Guard = Annotated[
    Annotated[State, Tag("state")]
    | Annotated[Outcome, Tag("outcome")]
    | Annotated[Not, Tag("not")]
    | Annotated[All, Tag("all")]
    | Annotated[Some, Tag("some")],
    Discriminator(_guard_tag),
]
"""When something is done."""


class Do(Sourced):
    """One action that an engineer could tick off, as an imperative."""

    text: str = Field(alias="do", min_length=1)
    core: bool = False
    """Without it the procedure was not carried out."""
    commands: tuple[str, ...] = ()
    """Verbatim from its lines, in order."""
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
    """Whoever does it chooses: the page offers the arms as options."""


class Arm(Sourced):
    """What is done when its guard holds; `lines` are those that say the guard."""

    guard: Guard | None = Field(default=None, alias="when")
    """In a choice with a question, the answer to it."""
    body: "Body" = Field(default=(), alias="steps")


class Choice(Sourced):
    """Alternatives. A condition is an exclusive choice with one arm."""

    mode: Mode = Field(alias="choice")
    question: str = ""
    """The one question that the guards of the arms answer, where there is one."""
    arms: tuple[Arm, ...] = Field(min_length=1)
    otherwise: "Body | None" = None
    """When no guard holds; None where the page does not say."""


class Loop(Sourced):
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


class End(Sourced):
    """Where a path ends, in the words of the page."""

    kind: EndKind = Field(alias="end")
    text: str = ""
    commands: tuple[str, ...] = ()


class Remark(Sourced):
    """What holds while the procedure is done, and is no step: a standing rule, a warning."""

    text: str = Field(alias="note", min_length=1)


_KEYS = ("do", "choice", "repeat", "goto", "end", "note")
_KEY_OF = {"Do": "do", "Choice": "choice", "Loop": "repeat", "Jump": "goto", "End": "end"}


def _node_tag(given: object) -> str:
    if isinstance(given, Mapping):
        return next((key for key in _KEYS if key in given), "do")
    return _KEY_OF.get(type(given).__name__, "note")


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
"""Done in this order."""

VERIFICATION = "verification"
ESCALATION = "escalation"
START = "start"


class Procedure(Noun):
    """What one page tells for one fault or task."""

    title: str
    treats: str = ""
    """The fault or task in a sentence: what a ticket is compared with."""
    lines: tuple[LineRange, ...] = Field(default=(), alias="at")
    """Where the page tells it, heading included."""
    body: Body = Field(alias="steps")
    verification: Body = ()
    """How to see that a remedy worked: whatever is mended leads here."""
    escalation: Body = ()
    """What is done when nothing helped."""
    parts: dict[str, Body] = {}
    """Shared pieces that jumps lead to, by name."""
    begun_from_boxes: bool = False
    """Whether it began as the boxes of the page one after the other, and nobody has been asked for
    its decisions yet: whoever approves it approves the boxes alone, and no step of it may change
    anything."""

    @property
    def bodies(self) -> dict[str, Body]:
        """All its bodies by the name that a jump gives them."""
        named = {START: self.body, VERIFICATION: self.verification, ESCALATION: self.escalation}
        return {**named, **self.parts}

    def walk(self) -> Iterator[Node]:
        """All nodes in the order of the text, those of parts last."""
        for body in self.bodies.values():
            yield from walk(body)


class DoubtKind(StrEnum):
    """What a doubt is about."""

    CONDITION = "condition"
    """Under which guard a node is done."""
    STEP = "step"
    """Whether the page tells to do it at all."""
    MISSING = "missing"
    """Whether something that was not taken for a step is one."""
    EXIT = "exit"
    """Where an answer, or the end of something, leads."""


class Answer(Noun):
    """A way to settle a doubt."""

    text: str
    replace: Body | None = None
    """What takes the node's place; None leaves it as it was read."""


class Doubt(Noun):
    """A question about a reading that its lines leave open, or that readers answer differently."""

    id: str
    kind: DoubtKind
    node: str
    """The id of the node that it is about."""
    procedure: int = 0
    """Place of its procedure in the reading."""
    question: str
    lines: tuple[LineRange, ...] = Field(default=(), alias="at")
    answers: tuple[Answer, ...] = ()
    ticket: str = ""
    """The id of the ticket on which an engineer found the step wrong; empty of other doubts. Such
    doubts are kept beside the reading, and no export has them."""


class Reader(StrEnum):
    """Who read a page."""

    RULES = "rules"
    """Rules over the page's words, up to version 17 of them. Stored ones can be read, and are part
    of nothing: what people approved of them is theirs."""
    COMPOSED = "composed"
    """The page was written with the procedure, by rules, from what somebody asked for."""
    IMPORTED = "imported"
    MODEL = "model"
    PERSON = "person"


class Reading(Noun):
    """The procedures of one text, and who read them."""

    reader: Reader
    version: str = ""
    """Of the prompt."""
    model: str = ""
    procedures: tuple[Procedure, ...] = ()
    """None where the page describes no procedure."""
    doubts: tuple[Doubt, ...] = ()


def walk(body: Body) -> Iterator[Node]:
    """The nodes of a body and all below them, in order."""
    for node in body:
        yield node
        for below in bodies_of(node):
            yield from walk(below)


def bodies_of(node: Node) -> list[Body]:
    """The bodies directly below a node."""
    if isinstance(node, Choice):
        return [arm.body for arm in node.arms] + ([node.otherwise] if node.otherwise else [])
    return [node.body] if isinstance(node, Loop) else []


def questions(guard: Guard | None) -> Iterator[State | Outcome]:
    """The questions that a guard asks, in order."""
    match guard:
        case State() | Outcome():
            yield guard
        case Not():
            yield from questions(guard.guard)
        case All() | Some():
            for each in guard.guards:
                yield from questions(each)


def as_json(noun: Noun) -> dict[str, Any]:
    """The short form: keys of the notation, nothing that is at its default."""
    found: dict[str, Any] = noun.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return found


for _model in (Not, All, Some, Arm, Choice, Loop, Procedure, Answer, Doubt, Reading):
    _model.model_rebuild()
