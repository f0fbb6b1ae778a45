"""Conciseness: is every step needed, said once and short enough to follow?"""

from services.contracts.scorer import Dimension
from services.grounding.evidence import terms_of
from services.grounding.grounder import GROUNDED, Grounded
from services.scorer.case import Case, on_scale, short
from services.workflow.model import Step

_LONGEST_STEP = 40
"""Words; instructions beyond two sentences are read twice (the usual advice of style guides for
procedures is 20–25 words a sentence)."""
_MANY_STEPS = 25
"""Steps beyond which an engineer under pressure loses the thread."""
_BESIDE_COST, _LONG_COST = 0.15, 0.3
"""What a step beside the point, and one twice too long, cost; a double costs 1. Little for the
first, since accuracy and relevance count it too."""
_SAME = 0.85
"""Share of the words of two steps that makes one the double of the other."""


def conciseness(case: Case) -> Dimension:
    """The share of the steps that are needed and short, less something for sheer number."""
    steps = [found.step for found in case.grounded]
    doubles = _doubles(steps)
    long = [step for step in steps if _words(step) > _LONGEST_STEP]
    beside = [found.step for found in case.grounded if not _serves(case, found)]
    cost = sum(_cost(case, found, doubles) for found in case.grounded)
    value = (1 - cost / len(steps)) * min(1.0, _MANY_STEPS / len(steps)) if steps else 0.0
    return Dimension(value=on_scale(value), reason=_reason(steps, doubles, long, beside))


def _cost(case: Case, found: Grounded, doubles: list[Step]) -> float:
    """0 for a step that is worth its place, 1 for one that is in the way."""
    if found.step in doubles:
        return 1.0
    excess = max(0, _words(found.step) - _LONGEST_STEP) / _LONGEST_STEP
    return max(_BESIDE_COST * _uselessness(case, found), _LONG_COST * min(1.0, excess))


def _uselessness(case: Case, found: Grounded) -> float:
    return 0.0 if _takes_up(case, found) else max(0.0, 1 - found.support / GROUNDED)


def _serves(case: Case, found: Grounded) -> bool:
    return found.is_grounded or _takes_up(case, found)


def _takes_up(case: Case, found: Grounded) -> bool:
    """Whether the step speaks of what the ticket speaks of."""
    terms = terms_of(found.step.text)
    return case.evidence.share(terms, case.ticket_terms) >= 0.5


def _doubles(steps: list[Step]) -> list[Step]:
    """Steps that say what an earlier one of their kind said."""
    found: list[Step] = []
    for index, step in enumerate(steps):
        if any(step.kind is other.kind and _same(step, other) for other in steps[:index]):
            found.append(step)
    return found


def _same(one: Step, other: Step) -> bool:
    first, second = terms_of(one.text), terms_of(other.text)
    union = first | second
    return bool(union) and len(first & second) / len(union) >= _SAME


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
