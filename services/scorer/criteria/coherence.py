"""Coherence: do the steps follow from one another, and is the graph sound?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.contracts.scorer import Dimension
from services.scorer.criteria.asking import decisions_ask, exits_answer
from services.scorer.criteria.branches import exits_fit
from services.scorer.criteria.case import Case, on_scale, short
from services.scorer.criteria.kinship import excess
from services.scorer.criteria.opening import (
    ends_with_outcome,
    opens_with_ticket,
    opens_without_order,
)
from services.scorer.criteria.order import (
    closeness,
    first_reversal,
    order_of_steps,
    order_of_transitions,
)
from services.workflow.lint import Finding, Severity


@dataclass(frozen=True)
class Sign:
    """Something that speaks for an order of steps, with its weight."""

    name: str
    weight: float
    of: Callable[[Case], float]


def _shared_words(case: Case) -> float:
    return excess(case.kinship.shared_words, case.joined)


def _said_together(case: Case) -> float:
    return excess(case.kinship.said_together, case.joined)


def _source_of_other(case: Case) -> float:
    return excess(case.kinship.source_of_other, case.joined)


def _meaning(case: Case) -> float:
    return excess(case.kinship.meaning, case.joined)


SIGNS: tuple[Sign, ...] = (
    Sign("order of the sources", 1.2, order_of_steps),
    Sign("order of the sources from step to step", 2.5, order_of_transitions),
    Sign("closeness in the sources", 7.5, closeness),
    Sign("shared words", 6.0, _shared_words),
    Sign("sentences that say two steps together", 5.3, _said_together),
    Sign("sources that say the next step too", 4.2, _source_of_other),
    Sign("kindred meaning", 6.3, _meaning),
    Sign("opening with the fault", 3.0, opens_with_ticket),
    Sign("opening with a statement", 1.0, opens_without_order),
    Sign("ending with an outcome", 6.2, ends_with_outcome),
    Sign("decisions that ask", 11.5, decisions_ask),
    Sign("exits that answer", 6.0, exits_answer),
    Sign("answers that lead where they should", 4.0, exits_fit),
)
"""Weights: logistic regression of references against perturbed copies of them, together with the
other dimensions, fitted on the even ids of the benchmark."""

_MIDDLE, _STEEPNESS = 24.0, 0.2
"""The weighted sum that stands for 3, and how fast the scale rises there."""
_ERROR_COST = 0.04
"""Share of the scale that one lint error takes. Little: workflows with errors rank last anyhow."""


def coherence(case: Case) -> Dimension:
    """Order and kinship of the steps against the sources, less what lint found."""
    weighed = {sign.name: sign.weight * sign.of(case) for sign in SIGNS}
    errors = [f for f in case.findings if f.severity is Severity.ERROR]
    share = 1 / (1 + math.exp(-_STEEPNESS * (sum(weighed.values()) - _MIDDLE)))
    value = share - _ERROR_COST * len(errors)
    weakest = min(weighed, key=lambda name: weighed[name])
    return Dimension(
        value=on_scale(value), reason=f"{_order(case)}; weakest: {weakest}{_lint(errors)}."
    )


def _order(case: Case) -> str:
    reversal = first_reversal(case)
    if reversal is None:
        return "The steps follow the order of their sources"
    return (
        f"{short(reversal[0].text)} leads to {short(reversal[1].text)}, which its source puts first"
    )


def _lint(errors: Sequence[Finding]) -> str:
    return (
        f"; lint finds {len(errors)} errors, first {errors[0].check}" if errors else "; lint-clean"
    )
