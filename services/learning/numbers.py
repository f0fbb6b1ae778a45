"""Weights that follow from cases and from what was known before, with how surely.

Both likelihoods hold that one label in twenty is turned round, so that no single case can pull the
weights as far as it likes; the prior is normal. What is sure of a fit is told by its covariance
(Laplace's approximation: MacKay, Information Theory, Inference, and Learning Algorithms, ch. 27).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.kit.fits.fitted import Spread

Array = NDArray[np.float64]
Bound = tuple[float | None, float | None]
"""Of a weight: what it may not fall under, and not rise over."""
ANY, POSITIVE, NEGATIVE = (None, None), (0.0, None), (None, 0.0)

TURNED = 0.05
"""Share of the labels that is taken to be wrong."""
_RIDGE = 1e-9
_FLATTEST = 1e-6
_FURTHEST = 30.0


Likelihood = Callable[[Array], tuple[float, Array]]
"""Of weights: its log, and the slope of that."""


@dataclass(frozen=True)
class Weights:
    """Numbers and how surely they are known."""

    mean: Array
    """Shape (signs,)."""
    covariance: Array
    """Shape (signs, signs)."""

    def with_own_rate(self, variance: float) -> "Weights":
        """The first of them, which tells how often something is so, less surely by a variance."""
        covariance = self.covariance.copy()
        covariance[0, 0] += variance
        return Weights(self.mean, covariance)

    @classmethod
    def of(cls, mean: Sequence[float], spread: Spread) -> "Weights":
        """As fitted numbers tell of themselves."""
        return cls(np.array(mean, np.float64), np.array(spread.covariance, np.float64))

    @property
    def rounded(self) -> list[float]:
        """The mean as it is written into fitted numbers."""
        return [round(float(weight), 4) for weight in self.mean]

    def spread(self, names: Sequence[str]) -> Spread:
        """As it is written into fitted numbers."""
        rounded = np.round(self.covariance, 5).tolist()
        return Spread(names=tuple(names), covariance=tuple(map(tuple, rounded)))


@dataclass(frozen=True)
class Choice:
    """One of several was right."""

    signs: Array
    """Shape (several, signs)."""
    right: int
    weight: float = 1.0


def fit_chance(
    table: Array,
    truth: Array,
    weight: Array,
    prior: Weights,
    bounds: Sequence[Bound],
    *,
    offset: Array | float = 0.0,
) -> Weights:
    """Logistic regression: `table` of shape (cases, signs), `truth` 0 or 1.

    `offset` are the log-odds of each case before anything is added.
    """
    return _fitted(_of_chance(table, truth, weight, offset), prior, bounds)


def fit_order(choices: Sequence[Choice], prior: Weights, bounds: Sequence[Bound]) -> Weights:
    """Conditional logit (McFadden, 1974): what lifts the right one over the others."""
    return _fitted(_of_order(choices), prior, bounds)


def around_chance(table: Array, truth: Array, weight: Array, prior: Weights) -> Weights:
    """The prior's mean as it is, and how surely it is known after these cases."""
    return _around(_of_chance(table, truth, weight), prior)


def around_order(choices: Sequence[Choice], prior: Weights) -> Weights:
    """The same of an order."""
    return _around(_of_order(choices), prior)


def _of_chance(
    table: Array, truth: Array, weight: Array, offset: Array | float = 0.0
) -> Likelihood:
    def likelihood(given: Array) -> tuple[float, Array]:
        margins = np.clip(offset + table @ given, -_FURTHEST, _FURTHEST)
        chance = 1 / (1 + np.exp(-margins))
        told = np.where(truth > 0, chance, 1 - chance)
        held = TURNED + (1 - 2 * TURNED) * told
        slope = np.where(truth > 0, 1.0, -1.0) * (1 - 2 * TURNED) * chance * (1 - chance) / held
        return float(weight @ np.log(held)), table.T @ (weight * slope)

    return likelihood


def _of_order(choices: Sequence[Choice]) -> Likelihood:
    def likelihood(given: Array) -> tuple[float, Array]:
        total, slope = 0.0, np.zeros_like(given)
        for each in choices:
            shares = shares_of(each.signs @ given)
            held = (1 - TURNED) * shares[each.right] + TURNED / len(shares)
            pull = (1 - TURNED) * shares[each.right] / held
            total += each.weight * float(np.log(held))
            slope += each.weight * pull * (each.signs[each.right] - shares @ each.signs)
        return total, slope

    return likelihood


def shares_of(scores: Array) -> Array:
    """Softmax, 0–1 each."""
    grown = np.exp(scores - scores.max())
    return np.asarray(grown / grown.sum())


def _fitted(likelihood: Likelihood, prior: Weights, bounds: Sequence[Bound]) -> Weights:
    from scipy.optimize import minimize  # noqa: PLC0415 - a second at every start

    loss = _loss(likelihood, prior)
    found: Any = minimize(loss, prior.mean, jac=True, bounds=bounds, method="L-BFGS-B")
    mean = np.asarray(found.x, dtype=np.float64)
    return Weights(mean, _covariance(loss, mean))


def _around(likelihood: Likelihood, prior: Weights) -> Weights:
    return Weights(prior.mean, _covariance(_loss(likelihood, prior), prior.mean))


def _loss(likelihood: Likelihood, prior: Weights) -> Likelihood:
    precision = np.linalg.inv(prior.covariance + _RIDGE * np.eye(len(prior.mean)))

    def loss(given: Array) -> tuple[float, Array]:
        value, slope = likelihood(given)
        off = given - prior.mean
        return 0.5 * float(off @ precision @ off) - value, precision @ off - slope

    return loss


def _covariance(loss: Likelihood, at: Array) -> Array:
    """The inverse of the Hessian, which comes of differences of the slope."""
    step = 1e-4
    rows = [
        (loss(at + step * unit)[1] - loss(at - step * unit)[1]) / (2 * step)
        for unit in np.eye(len(at))
    ]
    curved = np.array(rows)
    values, vectors = np.linalg.eigh((curved + curved.T) / 2)
    return np.asarray((vectors / np.maximum(values, _FLATTEST)) @ vectors.T, np.float64)
