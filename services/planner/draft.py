"""A workflow in the making: what to do, what to ask, where to end, in reading order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.knowledge.model import Span
from services.workflow.model import (
    Citation,
    Provenance,
    Step,
    StepKind,
    Transition,
    Workflow,
)


@dataclass(frozen=True)
class Do:
    """An action; the reading goes on after it."""

    text: str
    cites: tuple[Span, ...] = ()
    commands: tuple[str, ...] = ()
    expected: str = ""


@dataclass(frozen=True)
class End:
    """A terminal."""

    text: str
    cites: tuple[Span, ...] = ()
    commands: tuple[str, ...] = ()
    expected: str = ""


@dataclass(frozen=True)
class Ask:
    """A decision; an empty branch goes on after it, as a branch without an end does."""

    text: str
    yes: tuple["Element", ...] = ()
    no: tuple["Element", ...] = ()
    cites: tuple[Span, ...] = ()
    commands: tuple[str, ...] = ()
    expected: str = ""
    labels: tuple[str, str] = ("Yes", "No")


Element = Do | Ask | End


@dataclass(frozen=True)
class Draft:
    """What one way of reading a page makes of it."""

    strategy: str
    title: str
    elements: tuple[Element, ...]
    fitness: float
    """How well the page's form suits this way of reading, 0–1."""
    document_ids: tuple[str, ...] = ()
    node_ids: tuple[str, ...] = ()


@dataclass
class _Graph:
    steps: list[Step] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)


def assemble(draft: Draft) -> Workflow:
    """The graph: ids `s1`, `s2`, … in reading order, every path ends in a terminal.

    The last element of a draft must be an `End`.
    """
    graph = _Graph()
    _lay(draft.elements, 1, 0, graph)
    return Workflow(
        title=draft.title,
        steps=tuple(graph.steps),
        transitions=tuple(graph.transitions),
        provenance=Provenance(
            planner="extractive",
            version=draft.strategy,
            document_ids=draft.document_ids,
            node_ids=draft.node_ids,
        ),
    )


def size(elements: Sequence[Element]) -> int:
    """Steps that the elements and their branches make."""
    branches = (part for e in elements if isinstance(e, Ask) for part in (e.yes, e.no))
    return len(elements) + sum(size(part) for part in branches)


def _lay(elements: Sequence[Element], first: int, after: int, graph: _Graph) -> int:
    """Adds the elements, the first with number `first`; returns the number of their entry."""
    if not elements:
        return after
    number = first
    for index, element in enumerate(elements):
        beyond = number + size([element])
        follower = beyond if index + 1 < len(elements) else after
        _lay_one(element, number, follower, graph)
        number = beyond
    return first


def _lay_one(element: Element, number: int, follower: int, graph: _Graph) -> None:
    kind = {Do: StepKind.PROCESS, End: StepKind.TERMINAL, Ask: StepKind.DECISION}[type(element)]
    if isinstance(element, Do) and not follower:
        kind = StepKind.TERMINAL
    graph.steps.append(_step(element, number, kind))
    if isinstance(element, Ask):
        yes = _lay(element.yes, number + 1, follower, graph)
        no = _lay(element.no, number + 1 + size(element.yes), follower, graph)
        _connect(graph, number, yes, element.labels[0])
        _connect(graph, number, no, element.labels[1])
    elif kind is StepKind.PROCESS:
        _connect(graph, number, follower, "")


def _connect(graph: _Graph, source: int, target: int, condition: str) -> None:
    if target:
        graph.transitions.append(
            Transition(source=f"s{source}", target=f"s{target}", condition=condition)
        )


def _step(element: Element, number: int, kind: StepKind) -> Step:
    return Step(
        id=f"s{number}",
        kind=kind,
        text=element.text,
        commands=element.commands,
        expected=element.expected,
        citations=tuple(
            Citation(
                document_id=span.document_id, start_line=span.start_line, end_line=span.end_line
            )
            for span in dict.fromkeys(element.cites)
        ),
    )
