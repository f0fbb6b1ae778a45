"""From a draft to the graph: steps with their numbers, arrows, the ends of all paths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.knowledge.model import Span
from services.planner.draft import Ask, Do, Draft, Element, End, GoTo, placed, size
from services.planner.jumps import as_told, ended, follows, in_order, is_within, settled
from services.workflow.lint import STRUCTURE_CHECKS
from services.workflow.model import (
    Citation,
    Provenance,
    Step,
    StepKind,
    Transition,
    Workflow,
)


@dataclass
class _Graph:
    numbers: Mapping[Span, int]
    """The step that each `GoTo` leads to, by its target."""
    steps: list[Step] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)


def assemble(draft: Draft) -> Workflow:
    """The graph: ids `s1`, `s2`, … in reading order, every path ends in a terminal.

    The last element of a draft must be an `End`; it is left out where every path ends or goes back
    before it. Where jumps would leave other steps that no path comes to, or a loop without a way
    out, the steps follow each other as on the page.
    """
    elements = settled(draft.elements)
    ways = (ended(elements), elements, in_order(elements))
    parts = (part for way in ways for part in (way, way[:-1]) if part)
    # Without the end, a jump to it leads nowhere.
    workflows = (_workflow(draft, settled(part)) for part in parts)
    sound = (workflow for workflow in workflows if not _is_broken(workflow))
    return next(sound, None) or _workflow(draft, as_told(elements))


def _is_broken(workflow: Workflow) -> bool:
    return any(True for check in STRUCTURE_CHECKS for _ in check(workflow, {}))


def _workflow(draft: Draft, elements: Sequence[Element]) -> Workflow:
    graph = _Graph(_numbers(elements))
    _lay(elements, 1, 0, graph)
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


def _numbers(elements: Sequence[Element]) -> dict[Span, int]:
    steps = list(placed(elements, 1))
    targets = {jump.target for jump in follows(elements) if jump.target}
    return {
        target: next(number for number, step in steps if is_within(step, target))
        for target in targets
    }


def _lay(elements: Sequence[Element], first: int, after: int, graph: _Graph) -> None:
    """Adds the elements, the first with number `first`; the last one leads to `after`."""
    number = first
    for index, element in enumerate(elements):
        if isinstance(element, GoTo):
            continue
        beyond = number + size([element])
        _lay_one(element, number, _entry(elements[index + 1 :], beyond, after, graph), graph)
        number = beyond


def _entry(elements: Sequence[Element], first: int, after: int, graph: _Graph) -> int:
    """The number of the step that these elements begin with."""
    if not elements:
        return after
    start = elements[0]
    return graph.numbers[start.target] if isinstance(start, GoTo) and start.target else first


def _lay_one(element: Do | Ask | End, number: int, follower: int, graph: _Graph) -> None:
    kind = {Do: StepKind.PROCESS, End: StepKind.TERMINAL, Ask: StepKind.DECISION}[type(element)]
    if isinstance(element, Do) and not follower:
        kind = StepKind.TERMINAL
    graph.steps.append(_step(element, number, kind))
    if isinstance(element, Ask):
        first = number + 1
        for branch, label in zip((element.yes, element.no), element.labels, strict=True):
            _lay(branch, first, follower, graph)
            _connect(graph, number, _entry(branch, first, follower, graph), label)
            first += size(branch)
    elif kind is StepKind.PROCESS:
        _connect(graph, number, follower, "")


def _connect(graph: _Graph, source: int, target: int, condition: str) -> None:
    if target:
        graph.transitions.append(
            Transition(source=f"s{source}", target=f"s{target}", condition=condition)
        )


def _step(element: Do | Ask | End, number: int, kind: StepKind) -> Step:
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
