"""Graph walks for triage: ticket → entity → team, and onward over past tickets.

Entities are the names, codes and words of tickets. One hop counts the teams of each entity, two
hops the teams of past tickets that share entities. A third hop, to similar tickets, added nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from services.kit.text import ellipsize
from services.language.names import COMPOUND, parts_of
from services.language.words import tokenise
from services.tickets.triage.routing.similarity import Array, SparseSpace

_PSEUDO_TICKETS = 2.0
"""Prior in tickets: an entity's teams count as the usual ones until as many have named it."""
_NEAREST = 20
_SLACK = 0.5
"""Added to the sum of weights, so that walks say little if all past tickets are far off."""
_SCALE = 5.0
"""Factor that brings shares to the size of log odds."""
_SEGMENT = re.compile(r"[_-]")
_LONGEST_SHOWN = 32
"""Characters of an entity that a person can read at a glance."""


class EntityGraph:
    """Past tickets, their entities and their teams."""

    def __init__(self, space: SparseSpace, teams: Array) -> None:
        """Count the teams of entities; `teams` (tickets, teams) is 1 for the team that took it."""
        self._space = space
        self._mentions = (space.texts > 0).astype(float)
        self._teams = teams
        self._counts: Array = np.asarray(self._mentions.T @ teams)
        self._odds = _odds(self._counts, teams)
        self._between: Array = space.cosines(space.texts)

    def columns(self, texts: Sequence[str]) -> list[Array]:
        """Return the scores of one hop and of two, each (texts, teams); higher is likelier."""
        rows = self._space.rows(texts)
        to_past = _step_shares(self._space.cosines(rows))
        direct = _mean_odds((rows > 0).astype(float), self._odds)
        return [direct, _SCALE * (to_past @ self._teams)]

    def unseen_columns(self, folds: NDArray[np.int64]) -> list[Array]:
        """Return the same for each past ticket, as if its fold were not in the graph."""
        columns: list[Array] = [np.zeros_like(self._teams) for _ in range(2)]
        for fold in np.unique(folds):
            (part,) = np.nonzero(folds == fold)
            named, teams = self._mentions[part], self._teams[part]
            counts = self._counts - named.T @ teams
            between = self._between[part]
            between[:, part] = 0
            columns[0][part] = _mean_odds(named, _odds(counts, self._teams))
            columns[1][part] = _SCALE * (_step_shares(between) @ self._teams)
        return columns

    def paths(self, text: str, team: int, names: Sequence[str], most: int) -> list[str]:
        """Describe the strongest paths from a text to a team, one for each name in the text."""
        strongest: dict[str, str] = {}
        for way in sorted(self._paths_to(text, team), key=lambda way: -way.weight):
            entity = ellipsize(way.entity, _LONGEST_SHOWN)
            description = f"{entity} → {names[team]}: {way.tickets} of {way.of} tickets"
            strongest.setdefault(way.name, description)
        return list(strongest.values())[:most]

    def _paths_to(self, text: str, team: int) -> Iterator["_TeamPath"]:
        usual = self._teams[:, team].mean()
        for term, (name, entity) in _surface_forms(text).items():
            place = self._space.index.get(term)
            if place is None or not self._counts[place, team]:
                continue
            n, total = self._counts[place, team], self._counts[place].sum()
            share = (n + _PSEUDO_TICKETS * usual) / (total + _PSEUDO_TICKETS)
            if share > usual:
                yield _TeamPath(float(np.log(share / usual)), name, entity, int(n), int(total))


class _TeamPath(NamedTuple):
    """A path from an entity of a text to a team."""

    weight: float
    name: str
    """Name in the text that is the entity, or contains it."""
    entity: str
    tickets: int
    """Number of past tickets of the team that name it."""
    of: int
    """Number of all past tickets that name it."""


def _surface_forms(text: str) -> dict[str, tuple[str, str]]:
    """Map each term to the name that contains it and to its own spelling there."""
    forms: dict[str, tuple[str, str]] = {}
    for name in COMPOUND.findall(text):
        parts = (part for segment in _SEGMENT.split(name) for part in parts_of(segment))
        for written in (name, *parts):
            for term in tokenise(written)[-1:]:
                forms.setdefault(term, (name, written))
    return forms


def _odds(counts: Array, teams: Array) -> Array:
    """Return the log odds of each entity's teams against the usual ones, (entities, teams)."""
    usual = (teams.sum(axis=0) + 0.5) / (len(teams) + 0.5 * teams.shape[1])
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(
        np.log((counts + _PSEUDO_TICKETS * usual) / (total + _PSEUDO_TICKETS) / usual)
    )


def _mean_odds(named: csr_matrix, odds: Array) -> Array:
    """Sum the odds over the root of their number, as a text's entities say much the same."""
    number = np.asarray(named.sum(axis=1)).reshape(-1, 1)
    return np.asarray(np.asarray(named @ odds) / np.sqrt(np.maximum(number, 1)))


def _step_shares(alike: Array) -> Array:
    """Return the shares of a step to the nearest past tickets; rows sum to 1, less if far off."""
    keep = min(_NEAREST, alike.shape[1])
    least = np.partition(alike, -keep, axis=1)[:, -keep][:, None]
    weights = np.where(alike >= least, alike, 0.0) ** 2
    return np.asarray(weights / (weights.sum(axis=1, keepdims=True) + _SLACK))
