"""Facts of a workflow that lines of its page can decide: the answers that a step depends on."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from services.language.states import negates
from services.workflow.model import StepKind, Workflow

_YES, _NO = "yes", "no"


class GuardFact(NamedTuple):
    """The fact that a step is reached only through this answer of this decision."""

    decision: str
    """The id of the decision."""
    answer: str
    """The answer at the arrow, in lower case."""


def guards(workflow: Workflow) -> dict[str, frozenset[GuardFact]]:
    """Return for each step the answers that every path to it passes (dominance of edges).

    Steps that nothing leads to have none.
    """
    if not workflow.steps:
        return {}
    start = workflow.steps[0].id
    exits: dict[str, list[tuple[str, str]]] = {}
    for edge in workflow.transitions:
        exits.setdefault(edge.source, []).append((edge.condition.strip().casefold(), edge.target))
    everything = _reached(start, exits)
    by_step: dict[str, set[GuardFact]] = {id_: set() for id_ in everything}
    for decision in workflow.of_kind(StepKind.DECISION):
        for answer in {answer for answer, _ in exits.get(decision.id, ())}:
            fact = GuardFact(decision.id, answer)
            for id_ in everything - _reached(start, exits, without=fact):
                by_step[id_].add(fact)
    return {id_: frozenset(facts) for id_, facts in by_step.items()}


def without_negation(answer: str, question: str) -> str:
    """Return the answer to the question without its negation: `no` to “is it not up” is `yes`.

    Answers in other words stay as they are.
    """
    normalised = answer.strip().casefold()
    if normalised not in {_YES, _NO} or not negates(question):
        return normalised
    return _NO if normalised == _YES else _YES


def _reached(
    start: str, exits: Mapping[str, Sequence[tuple[str, str]]], without: GuardFact | None = None
) -> set[str]:
    seen, todo = {start}, [start]
    while todo:
        source = todo.pop()
        for answer, target in exits.get(source, ()):
            if target not in seen and (source, answer) != without:
                seen.add(target)
                todo.append(target)
    return seen
