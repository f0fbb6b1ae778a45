"""How much a changed workflow misleads whoever follows it, measured by what it says of its steps.

Facts are: a step is reached only through this answer of that decision; a step comes before another
and never after it.
"""

from collections.abc import Hashable, Mapping
from itertools import permutations
from statistics import fmean

from services.runbook.facts import guards
from services.workflow.graph import reachable, successors
from services.workflow.model import Workflow

Facts = frozenset[Hashable]


def harm(original: Workflow, perturbed: Workflow) -> float:
    """0 where the same facts hold, 1 where none is left: the mean over guards and order.

    Of each, the share of the facts of either workflow that are lost or new.
    """
    names = same_steps(original, perturbed)
    own = {step.id: step.id for step in original.steps}
    shares = [
        _difference(guard_facts(original, own), guard_facts(perturbed, names)),
        _difference(order_facts(original, own), order_facts(perturbed, names)),
    ]
    measured = [share for share in shares if share is not None]
    return fmean(measured) if measured else 0.0


def guard_harm(original: Workflow, perturbed: Workflow) -> int:
    """How many facts of guards are lost or new."""
    own = {step.id: step.id for step in original.steps}
    names = same_steps(original, perturbed)
    return len(guard_facts(original, own) ^ guard_facts(perturbed, names))


def same_steps(original: Workflow, perturbed: Workflow) -> dict[str, str]:
    """By each id of the perturbed workflow the step of the original that it is.

    Contents may have moved from one id to another, and words may have changed in their place; what
    is neither is new and keeps its id behind a sign of its own.
    """
    moved = {step.text: step.id for step in reversed(original.steps)}
    texts = {step.id: step.text for step in original.steps}
    names: dict[str, str] = {}
    for step in perturbed.steps:
        if texts.get(step.id) == step.text:
            names[step.id] = step.id
        elif step.text in moved:
            names[step.id] = moved[step.text]
        else:
            names[step.id] = step.id if step.id in texts else f"new {step.id}"
    return names


def guard_facts(workflow: Workflow, names: Mapping[str, str]) -> Facts:
    """Step, decision and answer, by the names of the steps."""
    return frozenset(
        (names[step_id], names[fact.decision], fact.answer)
        for step_id, facts in guards(workflow).items()
        for fact in facts
    )


def order_facts(workflow: Workflow, names: Mapping[str, str]) -> Facts:
    """Pairs of steps of which the first comes before the other and never after it."""
    arrows = successors(workflow.transitions)
    later = {step.id: reachable(step.id, arrows) for step in workflow.steps}
    return frozenset(
        (names[one], names[other])
        for one, other in permutations(later, 2)
        if other in later[one] and one not in later[other]
    )


def _difference(one: Facts, other: Facts) -> float | None:
    """None where there is no fact at all."""
    union = one | other
    return len(one ^ other) / len(union) if union else None
