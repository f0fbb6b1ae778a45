"""Ranker of teams: features weighed into chances, with one for “no team that is known”.

A conditional logit (McFadden, 1974) over the teams of each ticket, fitted on past tickets whose
fold was hidden from the features; no feature may count against a team. Then the chance of the first
team is calibrated by the similarity to the nearest past ticket (Platt, 1999), since a ticket unlike
all others easily gets too high a chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from services.tickets.triage.routing.similarity import Array

_PENALTY = 1.0
_PENALTY_OF_TRUST = 0.1
_NEVER = -1e9

_WeightBounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class TeamFeatures:
    """Features of each team for each ticket."""

    table: Array
    """Array of shape (tickets, teams, features)."""
    nearest: Array
    """Similarity to the nearest past ticket, 0–1, of shape (tickets,)."""


@dataclass(frozen=True)
class Ranker:
    """Weights of the features and of “none”, and of the calibration (`trust`)."""

    weights: Array
    trust: Array

    @classmethod
    def fitted(
        cls, features: TeamFeatures, team: NDArray[np.int64], hidden: NDArray[np.bool_]
    ) -> Self:
        """Fit the weights; `hidden` marks tickets whose team has no other to learn from."""
        tickets, teams, _ = features.table.shape
        right = np.where(hidden, teams, team)
        banned = np.zeros((tickets, teams + 1))
        banned[hidden, team[hidden]] = _NEVER
        table = _with_none(features)
        bounds = [(0.0, None)] * features.table.shape[2] + [(None, None)] * 2
        weights = _minimised(bounds, lambda w: _loss(w, table, banned, right))
        chances = _softmax(table @ weights + banned)[:, :teams]
        is_right = np.where(chances.argmax(axis=1) == right, 1.0, -1.0)
        trust_features = _trust_features(chances.max(axis=1), features.nearest)
        unbounded = [(None, None)] * trust_features.shape[1]
        return cls(
            weights, _minimised(unbounded, lambda w: _loss_of_trust(w, trust_features, is_right))
        )

    def chances(self, features: TeamFeatures) -> Array:
        """Return chances (tickets, teams); what a row lacks to 1 is the chance of no known team."""
        chances = _softmax(_with_none(features) @ self.weights)[:, :-1]
        top = chances.max(axis=1)
        confidence = _sigmoid(_trust_features(top, features.nearest) @ self.trust)
        scaled = chances * ((1 - confidence) / np.maximum(1 - top, 1e-9))[:, None]
        capped = np.minimum(scaled, 0.999 * confidence[:, None])
        first = chances.argmax(axis=1)
        capped[np.arange(len(first)), first] = confidence
        return np.asarray(capped)


def _with_none(features: TeamFeatures) -> Array:
    tickets, teams, number = features.table.shape
    table = np.zeros((tickets, teams + 1, number + 2))
    table[:, :teams, :number] = features.table
    table[:, teams, number] = 1
    table[:, teams, number + 1] = features.nearest
    return table


def _trust_features(top: Array, nearest: Array) -> Array:
    p = np.clip(top, 1e-4, 1 - 1e-4)
    odds = np.log(p / (1 - p))
    return np.stack([odds, 3 * nearest, 3 * nearest * odds, np.ones_like(odds)], axis=1)


def _loss(weights: Array, table: Array, banned: Array, right: Array) -> tuple[float, Array]:
    chances = _softmax(table @ weights + banned)
    rows = np.arange(len(right))
    value = -np.log(chances[rows, right] + 1e-300).sum() + _PENALTY * weights @ weights / 2
    expected = np.einsum("tc,tcd->d", chances, table)
    return float(value), expected - table[rows, right].sum(axis=0) + _PENALTY * weights


def _loss_of_trust(weights: Array, features: Array, is_right: Array) -> tuple[float, Array]:
    margins = is_right * (features @ weights)
    value = np.logaddexp(0, -margins).sum() + _PENALTY_OF_TRUST * weights @ weights / 2
    return float(value), _PENALTY_OF_TRUST * weights - (is_right * _sigmoid(-margins)) @ features


def _minimised(bounds: Sequence[_WeightBounds], loss: Any) -> Array:  # noqa: ANN401 - scipy's own type
    from scipy.optimize import minimize  # noqa: PLC0415 - a second at every start

    start = np.zeros(len(bounds))
    return np.asarray(minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x)


def _softmax(scores: Array) -> Array:
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def _sigmoid(scores: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(scores, -30, 30))))
