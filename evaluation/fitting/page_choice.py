"""`bench page-choice --write`: what a model's choice of a page is worth, from recorded answers."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from evaluation.benches.logic.page_choice import ChoiceCase
from evaluation.measures.telling_apart import auc, calibration_error
from services.tickets.page_choice.chance import ChoiceChance, LogitCurve

_PRIOR = (0.0, 1.0, 0.3)
"""Intercept and weights towards which few answers are drawn: what is stated is nearly believed."""
_PENALTY = 0.3
_MOST_HIDDEN = 0.08
"""Share of the tickets without their page that may be called sure."""
_LEAST_RIGHT = 0.95
"""Share of the sure ones that must be right."""
_LEAST_SURE = 90
"""Percent below which nothing is called sure, whatever these few cases say."""


def fit_choices(cases: Sequence[ChoiceCase], provenance: str) -> ChoiceChance:
    """Fitted on even ids; figures of both halves."""
    even = [case for case in cases if case.is_fitted]
    curves = {
        kind: _curve([c for c in even if c.kind == kind]) for kind in ("same", "other", "none")
    }
    fitted = ChoiceChance(**curves, sure_from=1.0, provenance=provenance)
    fitted = fitted.model_copy(update={"sure_from": _sure_from(even, fitted)})
    figures = {
        name: _figures([c for c in cases if c.is_fitted is half], fitted)
        for name, half in (("fitted", True), ("unfitted", False))
    }
    return fitted.model_copy(update={"figures": figures})


def _curve(cases: Sequence[ChoiceCase]) -> LogitCurve:
    prior = np.array(_PRIOR)
    odds = np.array([LogitCurve.log_odds(c.chosen.stated, c.retrieval) for c in cases]).reshape(
        -1, 2
    )
    table = np.c_[np.ones(len(cases)), odds]
    truth = np.array([1.0 if case.is_right else -1.0 for case in cases])

    def loss(coefficients: np.ndarray) -> float:
        drawn = _PENALTY * float(((coefficients - prior) ** 2).sum())
        return float(np.logaddexp(0.0, -truth * (table @ coefficients)).sum()) + drawn

    bounds = [(None, None), (0.0, None), (0.0, None)]
    intercept, stated, retrieval = minimize(loss, prior, bounds=bounds, method="L-BFGS-B").x
    return LogitCurve(
        intercept=round(float(intercept), 3),
        stated=round(float(stated), 3),
        retrieval=round(float(retrieval), 3),
    )


def _chance(case: ChoiceCase, fitted: ChoiceChance) -> float:
    return fitted.chance_of(case.chosen, case.first, case.retrieval)


def _sure_from(cases: Sequence[ChoiceCase], fitted: ChoiceChance) -> float:
    """The lowest percent with few hidden ones sure and enough right among the sure."""
    named = [(case, _chance(case, fitted)) for case in cases if case.chosen.page is not None]
    hidden = sum(case.is_hidden for case in cases)
    for percent in range(_LEAST_SURE, 100):
        sure = [case for case, chance in named if chance >= percent / 100]
        there = [case for case in sure if not case.is_hidden]
        wrong = sum(case.is_hidden for case in sure)
        is_right = sum(case.is_right for case in there) >= _LEAST_RIGHT * len(there)
        if there and is_right and wrong <= _MOST_HIDDEN * max(1, hidden):
            return percent / 100
    return 1.0


def _figures(cases: Sequence[ChoiceCase], fitted: ChoiceChance) -> dict[str, float]:
    predictions = [(_chance(case, fitted), case.is_right) for case in cases]
    if not predictions:
        return {}
    right = [chance for chance, is_right in predictions if is_right]
    wrong = [chance for chance, is_right in predictions if not is_right]
    return {
        "n": len(predictions),
        "right": len(right),
        "auc": auc(right, wrong) or 0.0,
        "ece": calibration_error(predictions),
        "brier": round(float(np.mean([(c - r) ** 2 for c, r in predictions])), 4),
        "brier of retrieval": round(
            float(
                np.mean(
                    [(c.retrieval - (not c.is_hidden and c.first == c.page)) ** 2 for c in cases]
                )
            ),
            4,
        ),
    }
