"""Fits how sure retrieval may be, and from which chance on a page fits surely or perhaps.

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
from evaluation.material.pairs import Pair, is_fitted
from services.contracts.retrieval import RetrieveRequest
from services.gateway.walk.fit import Thresholds
from services.retrieval.confidence import Calibration, Curve, features
from services.retrieval.service import RetrievalService

FEATURES = ("meaning", "coverage", "runs", "line_titled", "node_meaning", "margin")
"""Each says more the more there is of it, so that no weight may fall under 0."""
SURELY_WRONG = 0.12
"""Most of the tickets without their page that may be called sure, on the ids fitted on."""
SHOWN = 0.95
"""Least of the tickets with their page that must be shown, surely or perhaps."""

_STEPS = 20_000
_RATE = 0.3
_SHRINK = 0.0005
"""L2 penalty on the weights: there are only some dozens of known alerts."""

_Numbers = NDArray[np.float64]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Case:
    """One query and what speaks for the best document that is found for it."""

    is_alert: bool
    is_known: bool
    is_fitted: bool
    values: tuple[float, ...]
    """In the order of `FEATURES`."""


class Fitted(NamedTuple):
    """What a calibration gives."""

    calibration: Calibration
    thresholds: Thresholds


def alert_cases(
    retrieval: RetrievalService, known: Sequence[Pair], unknown: Sequence[Pair]
) -> Iterator[Case]:
    """Alerts whose page is there, and alerts whose page is not."""
    for is_known, pairs in ((True, known), (False, unknown)):
        for pair in pairs:
            request = request_of(pair, next(iter(pair.forms)))
            yield _case(retrieval, request, pair.id, is_alert=True, is_known=is_known)


def ticket_cases(
    retrieval: RetrievalService,
    blind_for: Callable[[str], RetrievalService],
    rows: Sequence[LogicRow],
) -> Iterator[Case]:
    """Tickets with their page, and without it."""
    for row in rows:
        request = RetrieveRequest.of_ticket(row.draft)
        yield _case(retrieval, request, row.id, is_alert=False, is_known=True)
        yield _case(blind_for(row.page), request, row.id, is_alert=False, is_known=False)


def calibrate(cases: Sequence[Case], provenance: str) -> Fitted:
    """A curve for alerts and one for what people write, both classes weighing the same.

    The thresholds hold for both, and are set by the tickets alone.
    """
    alerts = [case for case in cases if case.is_alert]
    tickets = [case for case in cases if not case.is_alert]
    curves = {"alerts": _fitted(alerts), "text": _fitted(tickets)}
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
        Calibration(**curves, provenance=provenance, figures=figures),
        Thresholds(sure_from=sure, unsure_from=unsure, provenance=provenance, figures=figures),
    )


def _case(
    retrieval: RetrievalService,
    request: RetrieveRequest,
    id_: str,
    *,
    is_alert: bool,
    is_known: bool,
) -> Case:
    found = features(retrieval.evidence(request))
    return Case(is_alert, is_known, is_fitted(id_), tuple(found[name] for name in FEATURES))


def _fitted(cases: Sequence[Case]) -> Curve:
    """Logistic regression with weights of at least 0, by projected gradient descent."""
    chosen = [case for case in cases if case.is_fitted]
    values, is_known = np.array([case.values for case in chosen]), _known(chosen)
    share = np.where(is_known, 0.5 / is_known.sum(), 0.5 / (~is_known).sum())
    weights = np.zeros(values.shape[1] + 1)
    for _ in range(_STEPS):
        slope = share * (_logistic(values, weights) - is_known)
        gradient = np.concatenate(([slope.sum()], values.T @ slope + 2 * _SHRINK * weights[1:]))
        weights = weights - _RATE * gradient
        weights[1:] = np.maximum(weights[1:], 0)
    return Curve(
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


def _chances(cases: Sequence[Case], curve: Curve) -> _Numbers:
    return np.array([curve.chance(dict(zip(FEATURES, c.values, strict=True))) for c in cases])


def _known(cases: Sequence[Case]) -> _Flags:
    return np.array([case.is_known for case in cases], dtype=np.bool_)


def _half(cases: Sequence[Case], *, fitted: bool) -> _Flags:
    return np.array([case.is_fitted is fitted for case in cases], dtype=np.bool_)


def _thresholds(cases: Sequence[Case], chances: _Numbers) -> tuple[float, float]:
    """The lowest chance with few enough wrong ones, and the highest that shows enough right ones.

    Whole percents; where even 99 % has too many wrong ones, that.
    """
    fitted, known = _half(cases, fitted=True), _known(cases)
    percents = [percent / 100 for percent in range(1, 100)]
    wrong, right = chances[fitted & ~known], chances[fitted & known]
    sure = next((p for p in percents if (wrong >= p).mean() <= SURELY_WRONG), percents[-1])
    shown = [p for p in percents if (right >= p).mean() >= SHOWN and p <= sure]
    return sure, max(shown, default=percents[0])


def _judged(
    cases: Sequence[Case], chances: _Numbers, is_fitted_half: bool, sure: float, unsure: float
) -> dict[str, float]:
    half, known = _half(cases, fitted=is_fitted_half), _known(cases)
    right, wrong = chances[half & known], chances[half & ~known]
    shares = {
        "known_sure": (right >= sure).mean(),
        "known_shown": (right >= unsure).mean(),
        "unknown_sure": (wrong >= sure).mean(),
        "unknown_shown": (wrong >= unsure).mean(),
        "auc": (right[:, None] > wrong[None, :]).mean(),
    }
    counts = {"known": len(right), "unknown": len(wrong)}
    return counts | {name: round(float(share), 3) for name, share in shares.items()}
