"""A flowchart as its logic: what is reached only through which answers, and what implies what."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluation.material.logic_rows import GoldGraph, GoldNode, LineRange
from services.workflow.graph import Successors, reachable, successors
from services.workflow.model import Step, StepKind, Transition, Workflow

MOST_LINES = 15
"""A span of more lines says too little of where a step stands to count."""

Guard = tuple[str, str]
"""A decision and the answer to it, in lower case."""
Relation = tuple[str, bool, bool]
"""Of two steps: before, after, exclusive or in a loop; whether the first implies the second, and
the second the first."""


@dataclass(frozen=True)
class LogicNode:
    """A step or a question of either graph."""

    id: str
    text: str
    is_decision: bool
    counts: bool
    """Ends that no line says do not."""
    lines: frozenset[int]
    is_core: bool = False


class LogicGraph:
    """Nodes and edges, with what follows from them by dominance."""

    def __init__(self, nodes: Iterable[LogicNode], edges: Iterable[Transition]) -> None:
        """Edges from or to unknown nodes are left out; the first node without entry is the start.

        `condition` of an edge is its answer, as `guards` tells it.
        """
        self.nodes: Mapping[str, LogicNode] = {node.id: node for node in nodes}
        self.edges: Sequence[Transition] = [
            edge for edge in edges if edge.source in self.nodes and edge.target in self.nodes
        ]
        self.decisions = [id_ for id_, node in self.nodes.items() if node.is_decision]
        self.actions = [
            id_ for id_, node in self.nodes.items() if node.counts and not node.is_decision
        ]
        self._arrows = successors(self.edges)
        self._start = _first_without_entry(self.nodes, self.edges)
        self._reached = {id_: reachable(id_, self._arrows) for id_ in self.nodes}

    def texts(self) -> Iterator[str]:
        """Of its nodes and answers."""
        yield from (node.text for node in self.nodes.values())
        yield from (edge.condition for edge in self.edges)

    @cached_property
    def guards(self) -> Mapping[str, frozenset[Guard]]:
        """For each action the answers that every way to it passes."""
        return self.answers_before(self.actions)

    def answers_before(self, ids: Iterable[str]) -> Mapping[str, frozenset[Guard]]:
        """Return for each of these nodes the answers that every way to it passes."""
        guards_by_id: dict[str, set[Guard]] = {id_: set() for id_ in ids}
        for decision in self.decisions:
            behind = self._reached[decision] - {decision, self._start}
            for answer in {edge.condition for edge in self._exits(decision)}:
                for id_ in guards_by_id.keys() & behind - self._without(decision, answer):
                    guards_by_id[id_].add((decision, answer))
        return {id_: frozenset(guards) for id_, guards in guards_by_id.items()}

    def relation(self, one: str, other: str) -> Relation:
        """How two different actions go together, in any run of the workflow."""
        later, earlier = other in self._reached[one], one in self._reached[other]
        order = ("||" if earlier else ">") if later else ("<" if earlier else "+")
        return order, one in self._implying[other], other in self._implying[one]

    @cached_property
    def _implying(self) -> Mapping[str, set[str]]:
        """By action the nodes that no complete path passes without passing that action."""
        return {
            action: set(self.nodes) - (self._before(action) & self._escaping(action))
            for action in self.actions
        }

    def _before(self, action: str) -> set[str]:
        """What is reached from the start without passing this action."""
        if action == self._start:
            return set()
        return _reached_around(action, [self._start], self._arrows)

    def _escaping(self, action: str) -> set[str]:
        """What some end is reached from without passing this action."""
        ends = [id_ for id_ in self.nodes if not self._arrows.get(id_) and id_ != action]
        return _reached_around(action, ends, self._backwards)

    @cached_property
    def _backwards(self) -> Successors:
        sources: dict[str, list[str]] = {}
        for edge in self.edges:
            sources.setdefault(edge.target, []).append(edge.source)
        return sources

    def _exits(self, id_: str) -> list[Transition]:
        return [edge for edge in self.edges if edge.source == id_]

    def _without(self, decision: str, answer: str) -> set[str]:
        """What is reached from the start when this answer is never given."""
        others = [edge.target for edge in self._exits(decision) if edge.condition != answer]
        return reachable(self._start, {**self._arrows, decision: others})


def gold_graph(drawn: GoldGraph) -> LogicGraph:
    """The graph of a drawn page."""
    nodes = [
        LogicNode(
            id=node.id,
            text=node.label,
            is_decision=node.kind == StepKind.DECISION,
            counts=_gold_counts(node),
            lines=_line_numbers(node.lines or ()),
            is_core=node.core,
        )
        for node in drawn.nodes
    ]
    edges = (
        Transition(source=edge.source, target=edge.target, condition=_answer(edge.label))
        for edge in drawn.edges
    )
    return LogicGraph(nodes, edges)


def workflow_graph(workflow: Workflow, page: str) -> LogicGraph:
    """The graph of a workflow; only lines of this page tell where a step stands."""
    nodes = [
        LogicNode(
            id=step.id,
            text=step.text,
            is_decision=step.kind is StepKind.DECISION,
            counts=bool(step.citations) or step.kind is StepKind.PROCESS,
            lines=_line_numbers(_cited(step, page)),
        )
        for step in workflow.steps
    ]
    edges = (
        edge.model_copy(update={"condition": _answer(edge.condition)})
        for edge in workflow.transitions
    )
    return LogicGraph(nodes, edges)


def _gold_counts(node: GoldNode) -> bool:
    """Where a set tells no lines, its ends count like its other steps."""
    if node.kind == StepKind.PROCESS:
        return True
    return node.kind == StepKind.TERMINAL if node.lines is None else bool(node.lines)


def _cited(step: Step, page: str) -> Iterator[LineRange]:
    """Lines of the page, whichever folder its id or the citation's is told from."""
    for citation in step.citations:
        id_ = citation.document_id
        if page.endswith(id_) or id_.endswith(page):
            yield citation.start_line, citation.end_line


def _line_numbers(spans: Iterable[LineRange]) -> frozenset[int]:
    return frozenset(
        line
        for first, last in spans
        if last - first < MOST_LINES
        for line in range(first, last + 1)
    )


def _answer(label: str) -> str:
    return label.strip().lower()


def _first_without_entry(nodes: Iterable[str], edges: Iterable[Transition]) -> str:
    entered = {edge.target for edge in edges}
    ids = list(nodes)
    return next((id_ for id_ in ids if id_ not in entered), ids[0] if ids else "")


def _reached_around(avoided: str, starts: Iterable[str], arrows: Successors) -> set[str]:
    """All that is reached from the starts, themselves included, on ways around one node."""
    reached: set[str] = set()
    for start in starts:
        if start not in reached:
            reached |= reachable(start, arrows, passes=lambda id_: id_ != avoided)
    return reached - {avoided}
