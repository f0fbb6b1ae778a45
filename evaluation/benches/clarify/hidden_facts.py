"""A drawn path of a page: what an engineer has before them, and what their ticket does not say."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evaluation.material.logic_rows import GoldEdge, GoldGraph, GoldNode, LogicRow
from evaluation.measures.logic import MATCH, Likeness
from services.language.sentences import sentences
from services.tickets.clarify.branches import may_change_state
from services.workflow.model import Step, StepKind

_TRIES = 50
"""Draws until a path has something hidden; most pages need one or two."""


@dataclass(frozen=True)
class HiddenFact:
    """A decision on the path and the answer by which the path goes on."""

    node: GoldNode
    answer: str
    is_at_start: bool
    """Nothing has been changed on the way to it, so that its state is there from the start."""
    is_in_ticket: bool
    """True if the ticket names it."""

    @property
    def counts(self) -> bool:
        """True for a hidden branch fact: to be asked about at the start, and not in the ticket."""
        return self.is_at_start and not self.is_in_ticket


DrawnPath = tuple[HiddenFact, ...]
"""The decisions of one way through a page, in their order."""


def drawn_path(row: LogicRow, seed: int, likeness: Likeness) -> DrawnPath:
    """A way through the row's drawing with a hidden branch fact; empty where none was drawn.

    Each answer is as likely as the others.
    """
    graph = row.reference or GoldGraph(nodes=())
    rng = random.Random(f"{seed}:{row.id}")  # noqa: S311 - repeatable, no secret
    is_in_ticket = _ticket_matcher(row, likeness)
    for _ in range(_TRIES):
        path = tuple(_facts(_way(graph, rng), is_in_ticket))
        if any(fact.counts for fact in path):
            return path
    return ()


def texts_of(row: LogicRow) -> Iterator[str]:
    """What is compared by meaning to tell whether the ticket names a decision."""
    yield from _ticket_sentences(row)
    yield from (node.label for node in (row.reference.nodes if row.reference else ()))


def _ticket_sentences(row: LogicRow) -> list[str]:
    return [row.draft.title, *sentences(row.draft.description)]


def _ticket_matcher(row: LogicRow, likeness: Likeness) -> Callable[[GoldNode], bool]:
    texts = _ticket_sentences(row)
    return lambda node: any(likeness.cosine(node.label, each) >= MATCH for each in texts)


def _way(graph: GoldGraph, rng: random.Random) -> list[tuple[GoldNode, str]]:
    """Nodes and the answers by which they were left, until an end or a node that was there."""
    nodes = {node.id: node for node in graph.nodes}
    exits: dict[str, list[GoldEdge]] = {}
    for edge in graph.edges:
        exits.setdefault(edge.source, []).append(edge)
    entered = {edge.target for edge in graph.edges}
    at: str | None = next((id_ for id_ in nodes if id_ not in entered), next(iter(nodes), None))
    way: list[tuple[GoldNode, str]] = []
    seen: set[str] = set()
    while at in nodes and at not in seen:
        seen.add(at)
        taken = rng.choice(exits[at]) if at in exits else None
        way.append((nodes[at], taken.label if taken else ""))
        at = taken.target if taken else None
    return way


def _facts(
    way: Sequence[tuple[GoldNode, str]], is_in_ticket: Callable[[GoldNode], bool]
) -> Iterator[HiddenFact]:
    is_at_start = True
    for node, answer in way:
        if node.kind == StepKind.DECISION and answer:
            yield HiddenFact(node, answer, is_at_start, is_in_ticket(node))
        is_action = node.kind == StepKind.PROCESS
        if is_action and may_change_state(Step(id="", kind=StepKind.PROCESS, text=node.label)):
            is_at_start = False
