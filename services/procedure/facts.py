"""Facts of a workflow that lines of its page can decide: which answers a step stands under."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from services.language.states import negates
from services.workflow.model import Step, StepKind, Workflow

_YES, _NO = "yes", "no"


class GuardFact(NamedTuple):
    """This step is reached only through this answer of this decision."""

    decision: str
    """Id of the decision."""
    answer: str
    """As it stands at the arrow, lower case."""


def guards(workflow: Workflow) -> dict[str, frozenset[GuardFact]]:
    """For each step the answers that every way to it passes (dominance of edges).

    Steps that nothing leads to have none.
    """
    if not workflow.steps:
        return {}
    start = workflow.steps[0].id
    arrows = [(e.source, e.target, e.condition.strip().casefold()) for e in workflow.transitions]
    everything = _reached(start, arrows)
    found: dict[str, set[GuardFact]] = {id_: set() for id_ in everything}
    for decision in workflow.of_kind(StepKind.DECISION):
        for answer in {label for source, _, label in arrows if source == decision.id}:
            without = [a for a in arrows if (a[0], a[2]) != (decision.id, answer)]
            for id_ in everything - _reached(start, without):
                found[id_].add(GuardFact(decision.id, answer))
    return {id_: frozenset(facts) for id_, facts in found.items()}


def polar(answer: str, question: str) -> str:
    """The answer to the question without its negation: `no` to “is it not up” is `yes`.

    Answers in other words stay as they are.
    """
    said = answer.strip().casefold()
    if said not in {_YES, _NO} or not negates(question):
        return said
    return _NO if said == _YES else _YES


def in_words(fact: GuardFact, steps: Mapping[str, Step]) -> str:
    """The condition as a person reads it."""
    return f"{steps[fact.decision].text.rstrip()} {fact.answer.capitalize()}"


def _reached(start: str, arrows: Iterable[tuple[str, str, str]]) -> set[str]:
    following: dict[str, list[str]] = {}
    for source, target, _ in arrows:
        following.setdefault(source, []).append(target)
    seen, todo = {start}, [start]
    while todo:
        for target in following.get(todo.pop(), ()):
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen
