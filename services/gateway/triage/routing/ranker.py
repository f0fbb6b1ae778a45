"""Several signs for each team, weighed into chances, with one for "no team that is known".

A conditional logit (McFadden, 1974) over the teams of each ticket, fitted on past tickets whose
part was hidden from the signs; no sign may count against a team. Then the chance of the first is
set right by how near the ticket is to past ones (Platt, 1999), since what is unlike everything is
easily told with too much trust.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from services.gateway.triage.routing.vectors import Array

_PENALTY = 1.0
_PENALTY_OF_TRUST = 0.1
_NEVER = -1e9

_Bound = tuple[float | None, float | None]


@dataclass(frozen=True)
class Signs:
    """What speaks for each team."""

    table: Array
    """Shape (tickets, teams, signs)."""
    nearest: Array
    """Shape (tickets,): how like the ticket is to the past one most like it, 0–1."""


@dataclass(frozen=True)
class Ranker:
    """Weights of the signs, of "none", and of trust."""

    weights: Array
    trust: Array

    @classmethod
    def fitted(cls, signs: Signs, team: NDArray[np.int64], hidden: NDArray[np.bool_]) -> Self:
        """`hidden` says which tickets had no other of their team to be learned from."""
        tickets, teams, _ = signs.table.shape
        right = np.where(hidden, teams, team)
        banned = np.zeros((tickets, teams + 1))
        banned[hidden, team[hidden]] = _NEVER
        table = _with_none(signs)
        bounds = [(0.0, None)] * signs.table.shape[2] + [(None, None)] * 2
        weights = _minimised(bounds, lambda w: _loss(w, table, banned, right))
        chances = _softmax(table @ weights + banned)[:, :teams]
        is_right = np.where(chances.argmax(axis=1) == right, 1.0, -1.0)
        seen = _trust_signs(chances.max(axis=1), signs.nearest)
        free = [(None, None)] * seen.shape[1]
        return cls(weights, _minimised(free, lambda w: _loss_of_trust(w, seen, is_right)))

    def chances(self, signs: Signs) -> Array:
        """Shape (tickets, teams); what a row lacks to 1 is the chance of no team that is known."""
        chances = _softmax(_with_none(signs) @ self.weights)[:, :-1]
        top = chances.max(axis=1)
        told = _sigmoid(_trust_signs(top, signs.nearest) @ self.trust)
        scaled = chances * ((1 - told) / np.maximum(1 - top, 1e-9))[:, None]
        capped = np.minimum(scaled, 0.999 * told[:, None])
        first = chances.argmax(axis=1)
        capped[np.arange(len(first)), first] = told
        return np.asarray(capped)


def _with_none(signs: Signs) -> Array:
    tickets, teams, number = signs.table.shape
    table = np.zeros((tickets, teams + 1, number + 2))
    table[:, :teams, :number] = signs.table
    table[:, teams, number] = 1
    table[:, teams, number + 1] = signs.nearest
    return table


def _trust_signs(top: Array, nearest: Array) -> Array:
    p = np.clip(top, 1e-4, 1 - 1e-4)
    odds = np.log(p / (1 - p))
    return np.stack([odds, 3 * nearest, 3 * nearest * odds, np.ones_like(odds)], axis=1)


def _loss(weights: Array, table: Array, banned: Array, right: Array) -> tuple[float, Array]:
    chances = _softmax(table @ weights + banned)
    rows = np.arange(len(right))
    value = -np.log(chances[rows, right] + 1e-300).sum() + _PENALTY * weights @ weights / 2
    expected = np.einsum("tc,tcd->d", chances, table)
    return float(value), expected - table[rows, right].sum(axis=0) + _PENALTY * weights


def _loss_of_trust(weights: Array, signs: Array, is_right: Array) -> tuple[float, Array]:
    margins = is_right * (signs @ weights)
    value = np.logaddexp(0, -margins).sum() + _PENALTY_OF_TRUST * weights @ weights / 2
    return float(value), _PENALTY_OF_TRUST * weights - (is_right * _sigmoid(-margins)) @ signs


def _minimised(bounds: Sequence[_Bound], loss: Any) -> Array:  # noqa: ANN401 - scipy's own type
    from scipy.optimize import minimize  # noqa: PLC0415 - a second at every start

    start = np.zeros(len(bounds))
    return np.asarray(minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x)


def _softmax(scores: Array) -> Array:
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def _sigmoid(scores: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(scores, -30, 30))))
