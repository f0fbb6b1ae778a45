"""Facts of a workflow that lines of its page can decide: the answers that a step depends on."""

from typing import NamedTuple

from services.language.states import negates
from services.workflow.graph import immediate_dominators
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
    arrows: dict[str | GuardFact, list[str | GuardFact]] = {}
    for edge in workflow.transitions:
        source: str | GuardFact = edge.source
        if workflow.by_id[edge.source].kind is StepKind.DECISION:
            source = GuardFact(edge.source, edge.condition.strip().casefold())
            arrows.setdefault(edge.source, []).append(source)
        arrows.setdefault(source, []).append(edge.target)
    passed: dict[str | GuardFact, frozenset[GuardFact]] = {}
    for node, dominator in immediate_dominators(start, arrows).items():
        own = {node} if isinstance(node, GuardFact) else ()
        passed[node] = passed.get(dominator, frozenset()).union(own)
    return {node: facts for node, facts in passed.items() if isinstance(node, str)}


def without_negation(answer: str, question: str) -> str:
    """Return the answer to the question without its negation: `no` to “is it not up” is `yes`.

    Answers in other words stay as they are.
    """
    normalised = answer.strip().casefold()
    if normalised not in {_YES, _NO} or not negates(question):
        return normalised
    return _NO if normalised == _YES else _YES
