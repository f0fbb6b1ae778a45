"""Coherence: do the steps follow from one another, and is the graph sound?"""

from collections.abc import Callable
from dataclasses import dataclass

from services.contracts.scorer import Dimension
from services.scorer.case import Case, on_scale
from services.scorer.kinship import (
    meaning,
    over_transitions,
    said_together,
    shared_words,
    source_of_other,
)
from services.scorer.opening import ends_with_outcome, opens_with_ticket, opens_without_order
from services.scorer.order import closeness, order_of_steps, order_of_transitions
from services.scorer.polarity import exits_fit
from services.workflow.lint import Severity


@dataclass(frozen=True)
class Sign:
    """Something that speaks for an order of steps, with its weight."""

    name: str
    weight: float
    of: Callable[[Case], float]


SIGNS: tuple[Sign, ...] = (
    Sign("order of the sources", 1.3, order_of_steps),
    Sign("order of the sources from step to step", 3.0, order_of_transitions),
    Sign("closeness in the sources", 2.0, closeness),
    Sign("shared words", 2.5, over_transitions(shared_words)),
    Sign("sentences that say two steps together", 4.0, over_transitions(said_together)),
    Sign("sources that say the next step too", 4.5, over_transitions(source_of_other)),
    Sign("kindred meaning", 9.0, over_transitions(meaning)),
    Sign("opening with the fault", 3.0, opens_with_ticket),
    Sign("opening with a statement", 3.0, opens_without_order),
    Sign("ending with an outcome", 2.5, ends_with_outcome),
    Sign("answers that lead where they should", 2.0, exits_fit),
)
"""Weights: logistic regression of references against their shuffled copies, fitted on the even ids
of the benchmark."""

_LOWEST, _HIGHEST = -4.0, 12.0
"""Weighted sums that stand for 1 and 5: the 1st percentile of shuffled copies, the 99th of
references (even ids)."""
_ERROR_COST = 0.25
"""Share of the scale that one lint error takes."""


def coherence(case: Case) -> Dimension:
    """Order and kinship of the steps against the sources, less what lint found."""
    weighed = {sign.name: sign.weight * sign.of(case) for sign in SIGNS}
    errors = [f for f in case.findings if f.severity is Severity.ERROR]
    share = (sum(weighed.values()) - _LOWEST) / (_HIGHEST - _LOWEST)
    value = min(1.0, max(0.0, share)) - _ERROR_COST * len(errors)
    found = f"lint finds {len(errors)} errors, first: {errors[0].check}" if errors else "lint-clean"
    strongest = max(weighed, key=lambda name: weighed[name])
    weakest = min(weighed, key=lambda name: weighed[name])
    return Dimension(
        value=on_scale(value),
        reason=f"The graph is {found}; most speaks for it: {strongest}; least: {weakest}.",
    )
