"""The triage graph, walked: ticket → entity → team, and on over past tickets.

Entities are the names, codes and words of tickets. One hop counts the teams of each entity, two
hops the teams of past tickets that share entities. A third, to tickets like these, added nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from services.gateway.triage.routing.vectors import Array, SparseSpace
from services.language.names import COMPOUND, parts_of
from services.language.words import tokenise

_PSEUDO_TICKETS = 2.0
"""An entity's teams are taken for the usual ones until as many tickets have named it."""
_NEAREST = 20
_SLACK = 0.5
"""Where all past tickets are far off, walks say little."""
_SCALE = 5.0
"""Brings shares to the size of log odds."""
_SEGMENT = re.compile(r"[_-]")
_LONGEST_SHOWN = 32
"""Characters of an entity that a person reads at a glance."""


class EntityGraph:
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
        """The strongest ways from a text to a team, in words, one for each name of the text."""
        strongest: dict[str, str] = {}
        for way in sorted(self._ways(text, team), key=lambda way: -way.weight):
            told = f"{_short(way.entity)} → {names[team]}: {way.tickets} of {way.of} tickets"
            strongest.setdefault(way.name, told)
        return list(strongest.values())[:most]

    def _ways(self, text: str, team: int) -> Iterator["_Way"]:
        usual = self._teams[:, team].mean()
        for term, (name, entity) in _surfaces(text).items():
            place = self._space.index.get(term)
            if place is None or not self._counts[place, team]:
                continue
            n, total = self._counts[place, team], self._counts[place].sum()
            share = (n + _PSEUDO_TICKETS * usual) / (total + _PSEUDO_TICKETS)
            if share > usual:
                yield _Way(float(np.log(share / usual)), name, entity, int(n), int(total))


class _Way(NamedTuple):
    """From an entity of a text to a team."""

    weight: float
    name: str
    """The name in the text that the entity is, or is a part of."""
    entity: str
    tickets: int
    """Past tickets of the team that name it."""
    of: int
    """Past tickets that name it."""


def _surfaces(text: str) -> dict[str, tuple[str, str]]:
    """By each term the name it stands in, and itself as it is written there."""
    found: dict[str, tuple[str, str]] = {}
    for name in COMPOUND.findall(text):
        parts = (part for segment in _SEGMENT.split(name) for part in parts_of(segment))
        for written in (name, *parts):
            for term in tokenise(written)[-1:]:
                found.setdefault(term, (name, written))
    return found


def _short(entity: str) -> str:
    return entity if len(entity) <= _LONGEST_SHOWN else f"{entity[: _LONGEST_SHOWN - 1]}…"


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
