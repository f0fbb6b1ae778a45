"""Weights fitted to cases and a prior, with their covariance.

Both likelihoods hold that one label in twenty is turned round, so that no single case can pull the
weights as far as it likes; the prior is normal. How sure a fit is follows from its covariance
(Laplace's approximation: MacKay, Information Theory, Inference, and Learning Algorithms, ch. 27).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.kit.fits.fitted import Spread

Array = NDArray[np.float64]
WeightBound = tuple[float | None, float | None]
"""Lower and upper limit of a weight; None for no limit."""
ANY, POSITIVE, NEGATIVE = (None, None), (0.0, None), (None, 0.0)

LABEL_NOISE = 0.05
"""Share of the labels that is taken to be wrong."""
_RIDGE = 1e-9
_FLATTEST = 1e-6
_FURTHEST = 30.0


Likelihood = Callable[[Array], tuple[float, Array]]
"""Function from weights to the log-likelihood and its gradient."""


@dataclass(frozen=True)
class FittedWeights:
    """Weights with their covariance."""

    mean: Array
    """Shape (features,)."""
    covariance: Array
    """Shape (features, features)."""

    def with_own_rate(self, variance: float) -> "FittedWeights":
        """Return a copy with more variance on the first weight, which is the base rate."""
        covariance = self.covariance.copy()
        covariance[0, 0] += variance
        return FittedWeights(self.mean, covariance)

    @classmethod
    def of(cls, mean: Sequence[float], spread: Spread) -> "FittedWeights":
        """Build from fitted numbers and their spread."""
        return cls(np.array(mean, np.float64), np.array(spread.covariance, np.float64))

    @property
    def rounded(self) -> list[float]:
        """The mean as it is written into fitted numbers."""
        return [round(float(weight), 4) for weight in self.mean]

    def spread(self, names: Sequence[str]) -> Spread:
        """Return the covariance as it is written into fitted numbers."""
        rounded = np.round(self.covariance, 5).tolist()
        return Spread(names=tuple(names), covariance=tuple(map(tuple, rounded)))


@dataclass(frozen=True)
class ChoiceLesson:
    """Case in which one of several candidates was right."""

    signs: Array
    """Shape (candidates, features)."""
    right: int
    weight: float = 1.0


def fit_chance(
    table: Array,
    truth: Array,
    weight: Array,
    prior: FittedWeights,
    bounds: Sequence[WeightBound],
    *,
    offset: Array | float = 0.0,
) -> FittedWeights:
    """Fit a logistic regression: `table` of shape (cases, features), `truth` 0 or 1.

    `offset` is the log-odds of each case before anything is added.
    """
    return _fit(_chance_likelihood(table, truth, weight, offset), prior, bounds)


def fit_order(
    choices: Sequence[ChoiceLesson], prior: FittedWeights, bounds: Sequence[WeightBound]
) -> FittedWeights:
    """Fit a conditional logit (McFadden, 1974): what lifts the right one over the others."""
    return _fit(_order_likelihood(choices), prior, bounds)


def update_chance_covariance(
    table: Array, truth: Array, weight: Array, prior: FittedWeights
) -> FittedWeights:
    """Return the prior's mean unchanged, with the covariance after these cases."""
    return _update_covariance(_chance_likelihood(table, truth, weight), prior)


def update_order_covariance(choices: Sequence[ChoiceLesson], prior: FittedWeights) -> FittedWeights:
    """Return the prior's mean unchanged, with the covariance after these choices."""
    return _update_covariance(_order_likelihood(choices), prior)


def _chance_likelihood(
    table: Array, truth: Array, weight: Array, offset: Array | float = 0.0
) -> Likelihood:
    def likelihood(weights: Array) -> tuple[float, Array]:
        margins = np.clip(offset + table @ weights, -_FURTHEST, _FURTHEST)
        chance = 1 / (1 + np.exp(-margins))
        chance_of_label = np.where(truth > 0, chance, 1 - chance)
        probability = LABEL_NOISE + (1 - 2 * LABEL_NOISE) * chance_of_label
        slope = (
            np.where(truth > 0, 1.0, -1.0)
            * (1 - 2 * LABEL_NOISE)
            * chance
            * (1 - chance)
            / probability
        )
        return float(weight @ np.log(probability)), table.T @ (weight * slope)

    return likelihood


def _order_likelihood(choices: Sequence[ChoiceLesson]) -> Likelihood:
    def likelihood(weights: Array) -> tuple[float, Array]:
        total, slope = 0.0, np.zeros_like(weights)
        for each in choices:
            shares = shares_of(each.signs @ weights)
            probability = (1 - LABEL_NOISE) * shares[each.right] + LABEL_NOISE / len(shares)
            pull = (1 - LABEL_NOISE) * shares[each.right] / probability
            total += each.weight * float(np.log(probability))
            slope += each.weight * pull * (each.signs[each.right] - shares @ each.signs)
        return total, slope

    return likelihood


def shares_of(scores: Array) -> Array:
    """Return the softmax of the scores, 0–1 each."""
    grown = np.exp(scores - scores.max())
    return np.asarray(grown / grown.sum())


def _fit(
    likelihood: Likelihood, prior: FittedWeights, bounds: Sequence[WeightBound]
) -> FittedWeights:
    from scipy.optimize import minimize  # noqa: PLC0415 - a second at every start

    loss = _loss(likelihood, prior)
    minimum: Any = minimize(loss, prior.mean, jac=True, bounds=bounds, method="L-BFGS-B")
    mean = np.asarray(minimum.x, dtype=np.float64)
    return FittedWeights(mean, _covariance(loss, mean))


def _update_covariance(likelihood: Likelihood, prior: FittedWeights) -> FittedWeights:
    return FittedWeights(prior.mean, _covariance(_loss(likelihood, prior), prior.mean))


def _loss(likelihood: Likelihood, prior: FittedWeights) -> Likelihood:
    precision = np.linalg.inv(prior.covariance + _RIDGE * np.eye(len(prior.mean)))

    def loss(weights: Array) -> tuple[float, Array]:
        value, slope = likelihood(weights)
        off = weights - prior.mean
        return 0.5 * float(off @ precision @ off) - value, precision @ off - slope

    return loss


def _covariance(loss: Likelihood, at: Array) -> Array:
    """Return the inverse of the Hessian, computed by differences of the gradient."""
    step = 1e-4
    rows = [
        (loss(at + step * unit)[1] - loss(at - step * unit)[1]) / (2 * step)
        for unit in np.eye(len(at))
    ]
    curved = np.array(rows)
    values, vectors = np.linalg.eigh((curved + curved.T) / 2)
    return np.asarray((vectors / np.maximum(values, _FLATTEST)) @ vectors.T, np.float64)
