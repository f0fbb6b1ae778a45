"""Fits how much each part of the scorer has to say, for one model, on even ids.

What a reference gains over a copy of itself that was made worse is, in each dimension, the weighted
sum of what each part sees; the loss is that of a logistic curve over the mean of the dimensions. A
reworded copy should gain and lose nothing. Weights are at least 0, together 1 in each dimension,
and drawn towards the evidence alone, so that a part has to show that it adds something.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from evaluation.benches.scorer_parts import merged_by, on_curve, parts_of, scores_of
from evaluation.measures.falling_scores import Judged, figures_of
from services.contracts.scorer import DIMENSIONS, Score
from services.kit.errors import InvalidInputError
from services.scorer.judges.likelihood import Likelihood
from services.scorer.judges.opinion import EVIDENCE, Opinion
from services.scorer.weights import Curve, ModelWeights
from services.workflow.perturbing.kinds import TO_STEPS, Perturbation

_WORSE = tuple(kind.value for kind in TO_STEPS if kind is not Perturbation.REWORDED)
_SAME = Perturbation.REWORDED.value
_SHRINK = 0.02
"""Cost of taking all votes of one dimension from the evidence; a loss of chance is 0.69."""
_STEADY = 1.0
"""Cost of one point by which a reworded copy moves, squared."""
_STEEPNESS = (1.0, 12.0)
"""Bounds of the logistic curve of the loss, per point of the overall score."""
_LEAST_IDS = 10
"""Fewer on either side say more about chance than about the model."""
_LEAST_WEIGHT = 0.01
"""Weights below are none: a part that hardly matters is not worth asking."""

_Numbers = NDArray[np.float64]


class NothingToFitError(InvalidInputError):
    """Too few references that a part beside the evidence has seen."""


@dataclass(frozen=True)
class _Gains:
    """What references gain over their copies, rows by dimension and part."""

    values: _Numbers
    kinds: tuple[str, ...]
    shares: _Numbers
    """Each row's weight: every kind counts alike, and within it every reference."""

    def of(self, *kinds: str) -> "_Gains":
        """The rows of these kinds."""
        chosen = np.array([kind in kinds for kind in self.kinds], dtype=bool)
        kept = tuple(kind for kind in self.kinds if kind in kinds)
        return _Gains(self.values[chosen], kept, self.shares[chosen])


def fit(judged: Sequence[Judged], provenance: str) -> ModelWeights:
    """Weights from the even ids, with figures on the odd ones.

    Raises:
        NothingToFitError: No part beside the evidence has seen every case, or there are fewer than
            ten even ids, or than ten odd ones.
    """
    parts = _common_parts(judged)
    fitted = [case for case in judged if case.pair.is_fitted]
    others = [case for case in judged if not case.pair.is_fitted]
    if len(parts) < 2 or min(len(fitted), len(others)) < _LEAST_IDS:
        raise NothingToFitError(
            f"expected {_LEAST_IDS} even and {_LEAST_IDS} odd ids that judge or likelihood scored,"
            f" got {len(fitted)} and {len(others)}, scored by {', '.join(parts)}"
        )
    curve = curve_of(fitted) if Likelihood.name in parts else Curve()
    gains = _gains(fitted, parts, curve)
    found = ModelWeights(
        weights=_fitted(gains, parts, _WORSE), likelihood=curve, provenance=provenance
    )
    return found.model_copy(update={"figures": dict(_figures(others, gains, parts, found))})


def curve_of(judged: Sequence[Judged]) -> Curve:
    """The curve on which the middle half of the mean log-probabilities lies between 2 and 4."""
    shown = [parts_of(score)[Likelihood.name] for case in judged for score in scores_of(case)]
    means = np.array([Curve().mean(opinion.overall) for opinion in shown])
    low, mid, high = np.quantile(means, (0.25, 0.5, 0.75))
    return Curve(mid=round(float(mid), 3), steepness=round(2 * math.log(3) / (high - low), 3))


def _common_parts(judged: Sequence[Judged]) -> list[str]:
    seen = [set(parts_of(score)) for case in judged for score in scores_of(case)]
    common = set.intersection(*seen) if seen else set()
    return [EVIDENCE, *sorted(common - {EVIDENCE})]


def _gains(judged: Sequence[Judged], parts: Sequence[str], curve: Curve) -> _Gains:
    rows: list[_Numbers] = []
    kinds: list[str] = []
    shares: list[float] = []
    for case in judged:
        best = _values(case.original, parts, curve)
        for kind, draws in case.worse.items():
            copies = [score for draw in draws.values() for score in draw.values()]
            rows += [best - _values(score, parts, curve) for score in copies]
            kinds += [kind] * len(copies)
            shares += [1 / len(copies)] * len(copies)
    return _Gains(np.array(rows), tuple(kinds), np.array(shares))


def _values(score: Score, parts: Sequence[str], curve: Curve) -> _Numbers:
    found = parts_of(score)
    opinions: list[Opinion] = [
        on_curve(found[part], curve) if part == Likelihood.name else found[part] for part in parts
    ]
    return np.array([[opinion.values[name] for opinion in opinions] for name in DIMENSIONS])


def _fitted(
    gains: _Gains, parts: Sequence[str], kinds: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Weights by dimension and part, from these kinds and the reworded copies."""
    worse, same = gains.of(*kinds), gains.of(_SAME)
    shape = (len(DIMENSIONS), len(parts))
    start = np.zeros(shape)
    start[:, 0] = 1.0
    size = start.size

    def loss(free: _Numbers) -> float:
        weights, steepness = free[:size].reshape(shape), free[size]
        lost = _mean(np.logaddexp(0, -steepness * _overall(worse, weights)), worse)
        moved = _mean(_overall(same, weights) ** 2, same)
        return lost + _STEADY * moved + _SHRINK * float(((1 - weights[:, 0]) ** 2).sum())

    found = minimize(
        loss,
        np.append(start.ravel(), _STEEPNESS[0]),
        method="SLSQP",
        bounds=[(0.0, 1.0)] * size + [_STEEPNESS],
        constraints=[
            {
                "type": "eq",
                "fun": lambda free, row=row: free[:size].reshape(shape)[row].sum() - 1,
            }
            for row in range(len(DIMENSIONS))
        ],
    )
    return _rounded(found.x[:size].reshape(shape), parts)


def _overall(gains: _Gains, weights: _Numbers) -> _Numbers:
    overall: _Numbers = (gains.values * weights).sum(axis=2).mean(axis=1)
    return overall


def _mean(values: _Numbers, gains: _Gains) -> float:
    """Over kinds, of the mean over references."""
    if not len(values):
        return 0.0
    kinds = np.array(gains.kinds)
    means = [
        float(np.average(values[kinds == kind], weights=gains.shares[kinds == kind]))
        for kind in dict.fromkeys(gains.kinds)
    ]
    return sum(means) / len(means)


def _rounded(weights: _Numbers, parts: Sequence[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for name, row in zip(DIMENSIONS, weights, strict=True):
        kept = np.where(row < _LEAST_WEIGHT, 0.0, row)
        shares = np.round(kept / kept.sum(), 3)
        found[name] = dict(zip(parts, map(float, shares), strict=True))
    return found


def _figures(
    judged: Sequence[Judged], gains: _Gains, parts: Sequence[str], found: ModelWeights
) -> Iterator[tuple[str, dict[str, float]]]:
    """Areas under the curve on odd ids, by kind.

    Of the evidence alone, of all merged, and merged by weights for which this kind was left out.
    """
    for kind in dict.fromkeys(gains.kinds):
        others = [other for other in _WORSE if other != kind]
        left_out = found.model_copy(update={"weights": _fitted(gains, parts, others)})
        figures = {
            name: _auc([merged_by(case, weights) for case in judged], kind)
            for name, weights in (("evidence", None), ("merged", found), ("left_out", left_out))
        }
        yield kind, {name: auc for name, auc in figures.items() if auc is not None}


def _auc(judged: Sequence[Judged], kind: str) -> float | None:
    rows: list[Mapping[str, float]] = [f for case in judged if (f := figures_of(case, kind))]
    return round(sum(row["auc"] for row in rows) / len(rows), 4) if rows else None
