"""Conciseness: is every step needed, said once and short enough to follow?"""

from services.contracts.scorer import Dimension
from services.grounding.grounder import GROUNDED, Grounded
from services.procedure.evidence.coverage import brevity_signs
from services.scorer.criteria.case import ScoringCase, short
from services.scorer.criteria.doubles import doubled
from services.scorer.criteria.weighing import Signs
from services.workflow.model import Step

_LONGEST_STEP = 40
"""Words; instructions beyond two sentences are read twice (the usual advice of style guides for
procedures is 20–25 words a sentence)."""
_MANY_STEPS = 40
"""Steps of one run, from the start to an end, beyond which an engineer under pressure loses the
thread; how many branches he does not take is no matter."""
_FEW_STEPS = 3
"""With fewer it is no workflow: short because it says nothing."""
_BESIDE_COST, _LONG_COST = 0.15, 0.3
"""What a step beside the point, and one twice too long, cost; a double costs 1. Little for the
first, since accuracy and relevance count it too."""


def signs(case: ScoringCase) -> Signs:
    """The share of the steps that are worth their place, and what kinds of steps there are."""
    doubles = doubled(case.workflow)
    cost = sum(_cost(found, doubles) for found in case.told)
    needed = (1 - cost / len(case.told)) * _measure(case) if case.told else 0.0
    return {"needed": needed, **brevity_signs(case.drawn, case.drawn.told)}


def conciseness(case: ScoringCase) -> Dimension:
    """The share of the steps that are needed and short, less something for sheer number."""
    steps = [found.step for found in case.told]
    long = [step for step in steps if _words(step) > _LONGEST_STEP]
    beside = [found.step for found in case.told if not found.is_grounded]
    value = case.weighings.of("conciseness").value(signs(case))
    return Dimension(value=value, reason=_reason(steps, doubled(case.workflow), long, beside))


def _cost(found: Grounded, doubles: list[Step]) -> float:
    """0 for a step that is worth its place, 1 for one that is in the way."""
    if found.step in doubles:
        return 1.0
    excess = max(0, _words(found.step) - _LONGEST_STEP) / _LONGEST_STEP
    uselessness = max(0.0, 1 - found.support / GROUNDED)
    return max(_BESIDE_COST * uselessness, _LONG_COST * min(1.0, excess))


def _measure(case: ScoringCase) -> float:
    """1 for a workflow of a size that can be followed, less for one too long or hardly begun."""
    run = max(case.depths.values(), default=0) + 1
    return min(1.0, _MANY_STEPS / run, len(case.workflow.steps) / _FEW_STEPS)


def _words(step: Step) -> int:
    return len(step.text.split())


def _reason(steps: list[Step], doubles: list[Step], long: list[Step], beside: list[Step]) -> str:
    faults = [
        f"{len(found)} {what} ({short(found[0].text)})"
        for found, what in (
            (doubles, "said twice"),
            (long, f"over {_LONGEST_STEP} words"),
            (beside, "beside the point"),
        )
        if found
    ]
    found = ", ".join(faults) or "none said twice, overlong or beside the point"
    return f"Of {len(steps)} steps: {found}."
