"""Do the steps follow one another as their sources do?"""

from collections.abc import Sequence
from itertools import combinations

from services.grounding.grounder import Grounded
from services.scorer.criteria.case import Case
from services.workflow.model import Step

_CLOSE = 3.0
"""Lines between two sentences at which their closeness is half of that of neighbours."""


def order_of_steps(case: Case) -> float:
    """Share of the pairs of steps whose order is the sources' minus those where it is reversed."""
    depths = case.depths
    placed = [found for found in case.grounded if found.is_grounded and found.step.id in depths]
    placed.sort(key=lambda found: depths[found.step.id])
    return _mean([_direction(a, b) for a, b in combinations(placed, 2)])


def order_of_transitions(case: Case) -> float:
    """The same over the pairs that a transition joins."""
    joined = [(a, b) for a, b in case.edges if a.is_grounded and b.is_grounded]
    return _mean([_direction(a, b) for a, b in joined])


def first_reversal(case: Case) -> tuple[Step, Step] | None:
    """The first transition whose sources stand the other way round."""
    for a, b in case.edges:
        if a.is_grounded and b.is_grounded and _direction(a, b) == -1:
            return a.step, b.step
    return None


def closeness(case: Case) -> float:
    """How much nearer the sentences behind joined steps stand than those of any two, -1–1."""
    joined = [_closeness(a, b) for a, b in case.edges]
    any_two = [_closeness(a, b) for a, b in combinations(case.grounded, 2)]
    return _mean(joined) - _mean(any_two)


def _direction(first: Grounded, second: Grounded) -> float | None:
    """1 when the first step's sentence comes first, -1 when second, None when none does."""
    a, b = first.unit, second.unit
    if a is None or b is None or a.document_id != b.document_id or a.start_line == b.start_line:
        return None
    return 1.0 if a.start_line < b.start_line else -1.0


def _closeness(first: Grounded, second: Grounded) -> float:
    a, b = first.unit, second.unit
    if a is None or b is None or a.document_id != b.document_id:
        return 0.0
    return 1 / (1 + abs(a.start_line - b.start_line) / _CLOSE)


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else 0.0
