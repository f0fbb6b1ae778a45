"""The triage graph, walked: ticket → entity → team, and on over past tickets.

Entities are the names, codes and words of tickets. One hop counts the teams of each entity, two
hops the teams of past tickets that share entities. A third, to tickets like these, added nothing.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from services.gateway.triage.vectors import Array, SparseSpace
from services.language.names import COMPOUND
from services.language.words import tokenise

_PSEUDO_TICKETS = 2.0
"""An entity's teams are taken for the usual ones until as many tickets have named it."""
_NEAREST = 20
_SLACK = 0.5
"""Where all past tickets are far off, walks say little."""
_SCALE = 5.0
"""Brings shares to the size of log odds."""


class Walks:
    """Past tickets, their entities and their teams."""

    def __init__(self, space: SparseSpace, teams: Array) -> None:
        """`teams`: shape (tickets, teams), 1 for the team that took the ticket."""
        self._space = space
        self._named = (space.texts > 0).astype(float)
        self._teams = teams
        self._counts: Array = np.asarray(self._named.T @ teams)
        self._odds = _odds(self._counts, teams)
        self._between: Array = space.alike(space.texts)

    def columns(self, texts: Sequence[str]) -> list[Array]:
        """One hop and two: each of shape (texts, teams), higher is likelier."""
        rows = self._space.rows(texts)
        to_past = _step(self._space.alike(rows))
        direct = _mean_odds((rows > 0).astype(float), self._odds)
        return [direct, _SCALE * (to_past @ self._teams)]

    def unseen_columns(self, folds: NDArray[np.int64]) -> list[Array]:
        """The same of each past ticket, as if its part were not in the graph."""
        columns: list[Array] = [np.zeros_like(self._teams) for _ in range(2)]
        for fold in np.unique(folds):
            (part,) = np.nonzero(folds == fold)
            named, teams = self._named[part], self._teams[part]
            counts = self._counts - named.T @ teams
            between = self._between[part]
            between[:, part] = 0
            columns[0][part] = _mean_odds(named, _odds(counts, self._teams))
            columns[1][part] = _SCALE * (_step(between) @ self._teams)
        return columns

    def paths(self, text: str, team: int, names: Sequence[str], most: int) -> list[str]:
        """The strongest ways from a text to a team, in words; one for each name in the text."""
        strongest: dict[str, str] = {}
        for _, entity, n, total in sorted(self._ways(text, team), reverse=True):
            strongest.setdefault(entity, f"{entity} → {names[team]}: {n} of {total} tickets")
        return list(strongest.values())[:most]

    def _ways(self, text: str, team: int) -> Iterator[tuple[float, str, int, int]]:
        usual = self._teams[:, team].mean()
        for term, entity in _surfaces(text).items():
            place = self._space.index.get(term)
            if place is None or not self._counts[place, team]:
                continue
            n, total = self._counts[place, team], self._counts[place].sum()
            share = (n + _PSEUDO_TICKETS * usual) / (total + _PSEUDO_TICKETS)
            if share > usual:
                yield float(np.log(share / usual)), entity, int(n), int(total)


def _surfaces(text: str) -> dict[str, str]:
    """Each term as it is written in the text; the whole of a name rather than its parts."""
    found: dict[str, str] = {}
    for word in COMPOUND.findall(text):
        for term in tokenise(word):
            found.setdefault(term, word)
    return found


def _odds(counts: Array, teams: Array) -> Array:
    """Log odds of each entity's teams against the usual ones: shape (entities, teams)."""
    usual = (teams.sum(axis=0) + 0.5) / (len(teams) + 0.5 * teams.shape[1])
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(
        np.log((counts + _PSEUDO_TICKETS * usual) / (total + _PSEUDO_TICKETS) / usual)
    )


def _mean_odds(named: csr_matrix, odds: Array) -> Array:
    """Over the root of their number, since entities of one text say much the same."""
    number = np.asarray(named.sum(axis=1)).reshape(-1, 1)
    return np.asarray(np.asarray(named @ odds) / np.sqrt(np.maximum(number, 1)))


def _step(alike: Array) -> Array:
    """Shares of a step to the nearest past tickets; the rows sum to 1, or to less if far off."""
    keep = min(_NEAREST, alike.shape[1])
    least = np.partition(alike, -keep, axis=1)[:, -keep][:, None]
    weights = np.where(alike >= least, alike, 0.0) ** 2
    return np.asarray(weights / (weights.sum(axis=1, keepdims=True) + _SLACK))
