"""Fits the confidence of retrieval: alerts whose page is known against alerts whose page is not."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.benches.retrieval import request_of
from evaluation.pairs import Pair
from services.retrieval.confidence import Calibration, features
from services.retrieval.service import RetrievalService

FEATURES = ("meaning", "focus", "coverage", "runs", "line_titled", "node_meaning")
"""Each says more the more there is of it, so that no weight may fall under 0."""
_STEPS = 20_000
_RATE = 0.3
_SHRINK = 0.002
"""L2 penalty on the weights: there are only some dozens of known alerts."""

_Numbers = NDArray[np.float64]


def calibrate(
    retrieval: RetrievalService,
    known: Sequence[Pair],
    unknown: Sequence[Pair],
    provenance: str,
    advance: Callable[[], None] = lambda: None,
) -> Calibration:
    """Fit on ids with an even sha256 and report on the others, both classes weighing the same.

    The threshold is the one that tells best the two apart where the curve was fitted.
    """
    pairs = [*known, *unknown]
    values = np.array([_values(retrieval, pair, advance) for pair in pairs])
    is_known = np.array([True] * len(known) + [False] * len(unknown))
    fitted = np.array([pair.is_fitted for pair in pairs])
    weights = _fit(values[fitted], is_known[fitted])
    chances = _curve(values, weights)
    threshold = _best_threshold(chances[fitted], is_known[fitted])
    return Calibration(
        intercept=round(float(weights[0]), 3),
        weights={
            name: round(float(weight), 3)
            for name, weight in zip(FEATURES, weights[1:], strict=True)
            if weight > 0
        },
        threshold=threshold,
        provenance=provenance,
        figures={
            "fitted": _judge(chances[fitted], is_known[fitted], threshold),
            "unfitted": _judge(chances[~fitted], is_known[~fitted], threshold),
        },
    )


def _values(retrieval: RetrievalService, pair: Pair, advance: Callable[[], None]) -> list[float]:
    found = features(retrieval.evidence(request_of(pair, next(iter(pair.forms)))))
    advance()
    return [found[name] for name in FEATURES]


def _curve(values: _Numbers, weights: _Numbers) -> _Numbers:
    chances: _Numbers = 1 / (1 + np.exp(-(weights[0] + values @ weights[1:])))
    return chances


def _fit(values: _Numbers, is_known: NDArray[np.bool_]) -> _Numbers:
    """Logistic regression with weights of at least 0, by projected gradient descent."""
    share = np.where(is_known, 0.5 / is_known.sum(), 0.5 / (~is_known).sum())
    weights = np.zeros(values.shape[1] + 1)
    for _ in range(_STEPS):
        slope = share * (_curve(values, weights) - is_known)
        gradient = np.concatenate(([slope.sum()], values.T @ slope + 2 * _SHRINK * weights[1:]))
        weights = weights - _RATE * gradient
        weights[1:] = np.maximum(weights[1:], 0)
    return weights


def _best_threshold(chances: _Numbers, is_known: NDArray[np.bool_]) -> float:
    candidates = [round(0.05 * step, 2) for step in range(1, 20)]
    return max(candidates, key=lambda t: _judge(chances, is_known, t)["balanced_accuracy"])


def _judge(chances: _Numbers, is_known: NDArray[np.bool_], threshold: float) -> dict[str, float]:
    fits = chances >= threshold
    known, unknown = chances[is_known], chances[~is_known]
    kept, refused = float(fits[is_known].mean()), float((~fits[~is_known]).mean())
    above = (known[:, None] > unknown[None, :]).mean()
    return {
        "known": int(is_known.sum()),
        "unknown": int((~is_known).sum()),
        "known_that_fit": round(kept, 3),
        "unknown_refused": round(refused, 3),
        "balanced_accuracy": round((kept + refused) / 2, 3),
        "auc": round(float(above), 3),
    }
