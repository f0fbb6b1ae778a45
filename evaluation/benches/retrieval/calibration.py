"""Fits how sure retrieval may be, and from which chance on a page fits surely or perhaps.

The order stays as it is; how surely its weights are known is told here, for learning on site.

Known are alerts and tickets whose page is there; unknown, alerts whose page is not, and the same
tickets with their page hidden. Everything is fitted on ids with an even sha256 and judged on the
others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.benches.retrieval.ranks import request_of
from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import Pair, PairsError, is_fitted
from services.contracts.retrieval import MOST_SIGNS, PageSigns, RetrieveRequest
from services.contracts.screened_ticket import ScreenedTicket
from services.learning.regression import (
    ChoiceLesson,
    FittedWeights,
    shares_of,
    update_chance_covariance,
    update_order_covariance,
)
from services.learning.retrieval_calibration import curve_names, table_of
from services.retrieval.calibration import (
    Calibration,
    ConfidenceCurve,
    Ranking,
    SignalWeights,
    features,
)
from services.retrieval.service import RetrievalService
from services.tickets.walk.fit import Thresholds

FEATURES = ("meaning", "coverage", "runs", "line_titled", "node_meaning", "margin")
"""Each says more the more there is of it, so that no weight may fall under 0."""
SURELY_WRONG = 0.12
"""Most of the tickets without their page that may be called sure, on the ids fitted on."""
SHOWN = 0.95
"""Least of the tickets with their page that must be shown, surely or perhaps."""

_STEPS = 20_000
_RATE = 0.3
_FREE = 100.0
"""Variance of a weight of which nothing is known."""
_SHRINK = 0.0005
"""L2 penalty on the weights: there are only some dozens of known alerts."""

_Numbers = NDArray[np.float64]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Case:
    """One query and what speaks for the best document that is found for it."""

    is_alert: bool
    has_page: bool
    is_fitted: bool
    values: tuple[float, ...]
    """In the order of `FEATURES`."""
    pages: tuple[PageSigns, ...] = ()
    """What came nearest, best first."""
    page: str = ""
    """The one that treats it, where it is there."""


class Fitted(NamedTuple):
    """What a calibration gives."""

    calibration: Calibration
    thresholds: Thresholds


def alert_cases(
    retrieval: RetrievalService, with_page: Sequence[Pair], without_page: Sequence[Pair]
) -> Iterator[Case]:
    """Alerts whose page is there, and alerts whose page is not."""
    for has_page, pairs in ((True, with_page), (False, without_page)):
        for pair in pairs:
            request = request_of(pair, next(iter(pair.forms)))
            page = next(iter(pair.gold_documents), "") if has_page else ""
            yield _case(retrieval, request, pair.id, page, is_alert=True)


def ticket_cases(
    retrieval: RetrievalService,
    blind_for: Callable[[str], RetrievalService],
    rows: Sequence[LogicRow],
) -> Iterator[Case]:
    """Tickets with their page, and without it."""
    for row in rows:
        request = RetrieveRequest.of_ticket(ScreenedTicket(row.draft))
        yield _case(retrieval, request, row.id, row.page, is_alert=False)
        yield _case(blind_for(row.page), request, row.id, "", is_alert=False)


def calibrate(cases: Sequence[Case], provenance: str) -> Fitted:
    """A curve for alerts and one for what people write, both classes weighing the same.

    The thresholds hold for both, and are set by the tickets alone.
    """
    alerts = [case for case in cases if case.is_alert]
    tickets = [case for case in cases if not case.is_alert]
    shipped = Calibration.shipped()
    rankings = {
        "alerts": ranking_of(shipped.alerts.order, alerts),
        "text": ranking_of(shipped.text.order, tickets),
    }
    curves = {name: ranking.curve for name, ranking in rankings.items()}
    chances = {"alerts": _chances(alerts, curves["alerts"])}
    chances["text"] = _chances(tickets, curves["text"])
    sure, unsure = _thresholds(tickets, chances["text"])
    parts = {"alerts": alerts, "text": tickets}
    figures = {
        f"{name}, {half}": _judged(parts[name], chances[name], half == "fitted", sure, unsure)
        for name in parts
        for half in ("fitted", "unfitted")
    }
    return Fitted(
        Calibration(**rankings, provenance=provenance, figures=figures),
        Thresholds(sure_from=sure, unsure_from=unsure, provenance=provenance, figures=figures),
    )


def _case(
    retrieval: RetrievalService,
    request: RetrieveRequest,
    id_: str,
    page: str,
    *,
    is_alert: bool,
) -> Case:
    ranked = retrieval.evidence(request)
    feature_values = features(ranked)
    pages = tuple(
        PageSigns(document_id=each.document_id, signs=each.signals._asdict())
        for each in ranked[:MOST_SIGNS]
    )
    values = tuple(feature_values[name] for name in FEATURES)
    return Case(is_alert, bool(page), is_fitted(id_), values, pages, page)


def ranking_of(order: SignalWeights, cases: Sequence[Case]) -> Ranking:
    """A curve for this order, and how surely both are known, from the cases to be fitted on.

    Raises:
        PairsError: Too few tickets: none of the fitted half has a page, or all have.
    """
    chosen = [case for case in cases if case.is_fitted]
    if len({case.has_page for case in chosen}) < 2:
        raise PairsError(
            "expected tickets with a page and alerts without one, of both more than came: "
            f"{len(chosen)} are to be fitted on"
        )
    curve = _fitted(chosen)
    return Ranking(order=_with_spread(order, chosen), curve=_curve_with_spread(curve, chosen))


def _with_spread(order: SignalWeights, cases: Sequence[Case]) -> SignalWeights:
    """The same order; its weights are as large as makes the right pages likeliest."""
    names = tuple(order.weights)
    choices = [
        ChoiceLesson(table_of(names, case.pages), ids.index(case.page))
        for case in cases
        for ids in [[page.document_id for page in case.pages]]
        if case.page in ids
    ]
    shares = np.array(list(order.weights.values())) / sum(order.weights.values())

    def log_likelihood(size: float) -> float:
        return sum(float(np.log(shares_of(c.signs @ (shares * size))[c.right])) for c in choices)

    mean = shares * max(np.arange(1.0, 60.0), key=log_likelihood)
    posterior = update_order_covariance(choices, FittedWeights(mean, np.eye(len(names)) * _FREE))
    weights = {n: round(float(w), 4) for n, w in zip(names, mean, strict=True)}
    return SignalWeights(weights=weights, spread=posterior.spread(names))


def _curve_with_spread(curve: ConfidenceCurve, cases: Sequence[Case]) -> ConfidenceCurve:
    kept = [FEATURES.index(name) for name in curve.weights]
    table = np.array([[1.0, *(case.values[place] for place in kept)] for case in cases])
    has_page = _page_flags(cases)
    share = np.where(has_page, 0.5 / has_page.sum(), 0.5 / (~has_page).sum())
    weight = share / (share**2).sum()  # as many as they are worth, both classes alike
    mean = np.array([curve.intercept, *curve.weights.values()])
    prior = FittedWeights(mean, np.eye(len(mean)) * _FREE)
    posterior = update_chance_covariance(table, has_page.astype(float), weight, prior)
    return curve.model_copy(update={"spread": posterior.spread(curve_names(curve))})


def _fitted(chosen: Sequence[Case]) -> ConfidenceCurve:
    """Logistic regression with weights of at least 0, by projected gradient descent."""
    values, has_page = np.array([case.values for case in chosen]), _page_flags(chosen)
    share = np.where(has_page, 0.5 / has_page.sum(), 0.5 / (~has_page).sum())
    weights = np.zeros(values.shape[1] + 1)
    for _ in range(_STEPS):
        slope = share * (_logistic(values, weights) - has_page)
        gradient = np.concatenate(([slope.sum()], values.T @ slope + 2 * _SHRINK * weights[1:]))
        weights = weights - _RATE * gradient
        weights[1:] = np.maximum(weights[1:], 0)
    return ConfidenceCurve(
        intercept=round(float(weights[0]), 3),
        weights={
            name: round(float(weight), 3)
            for name, weight in zip(FEATURES, weights[1:], strict=True)
            if weight > 0
        },
    )


def _logistic(values: _Numbers, weights: _Numbers) -> _Numbers:
    chances: _Numbers = 1 / (1 + np.exp(-(weights[0] + values @ weights[1:])))
    return chances


def _chances(cases: Sequence[Case], curve: ConfidenceCurve) -> _Numbers:
    return np.array([curve.chance(dict(zip(FEATURES, c.values, strict=True))) for c in cases])


def _page_flags(cases: Sequence[Case]) -> _Flags:
    return np.array([case.has_page for case in cases], dtype=np.bool_)


def _half(cases: Sequence[Case], *, fitted: bool) -> _Flags:
    return np.array([case.is_fitted is fitted for case in cases], dtype=np.bool_)


def _thresholds(cases: Sequence[Case], chances: _Numbers) -> tuple[float, float]:
    """The lowest chance with few enough wrong ones, and the highest that shows enough right ones.

    Whole percents; where even 99 % has too many wrong ones, that.
    """
    fitted, has_page = _half(cases, fitted=True), _page_flags(cases)
    percents = [percent / 100 for percent in range(1, 100)]
    wrong, right = chances[fitted & ~has_page], chances[fitted & has_page]
    sure = next((p for p in percents if (wrong >= p).mean() <= SURELY_WRONG), percents[-1])
    shown = [p for p in percents if (right >= p).mean() >= SHOWN and p <= sure]
    return sure, max(shown, default=percents[0])


def _judged(
    cases: Sequence[Case], chances: _Numbers, is_fitted_half: bool, sure: float, unsure: float
) -> dict[str, float]:
    half, has_page = _half(cases, fitted=is_fitted_half), _page_flags(cases)
    right, wrong = chances[half & has_page], chances[half & ~has_page]
    shares = {
        "known_sure": (right >= sure).mean(),
        "known_shown": (right >= unsure).mean(),
        "unknown_sure": (wrong >= sure).mean(),
        "unknown_shown": (wrong >= unsure).mean(),
        "auc": (right[:, None] > wrong[None, :]).mean(),
    }
    counts = {"known": len(right), "unknown": len(wrong)}
    return counts | {name: round(float(share), 3) for name, share in shares.items()}
