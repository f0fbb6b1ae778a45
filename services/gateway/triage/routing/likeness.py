"""Which team takes tickets like this one: ridge regression over words, letters and meaning.

Closed form, so that what it says of a past ticket without having seen its part (Rifkin and Lippert,
Notes on Regularized Least Squares, 2007) costs no further fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from services.gateway.triage.routing.cases import entities_of
from services.gateway.triage.routing.vectors import Array, SparseSpace, letter_runs
from services.knowledge.ports import Vectors

_RIDGE = 0.3


@dataclass(frozen=True)
class Query:
    """Texts as they are compared with past ones."""

    texts: Sequence[str]
    vectors: Vectors


class Likeness:
    """Past tickets and how much each speaks for a team when a ticket is like it."""

    def __init__(self, past: Query, entities: Sequence[Mapping[str, int]], teams: Array) -> None:
        """`teams`: shape (tickets, teams), 1 for the team that took the ticket."""
        self.words = SparseSpace(entities_of, entities)
        self._letters = SparseSpace(letter_runs, [letter_runs(text) for text in past.texts])
        self._vectors = past.vectors.astype(float)
        self.past = self._mean(self.words.texts, self._letters.texts, self._vectors)
        """How alike past tickets are to each other, 0–1: shape (tickets, tickets)."""
        self._usual: Array = teams.mean(axis=0)
        self._inverse = np.linalg.inv(self.past + _RIDGE * np.eye(len(self.past)))
        self._weights = self._inverse @ (teams - self._usual)
        self._teams = teams

    def to_past(self, query: Query) -> Array:
        """How alike texts are to past tickets, 0–1: shape (texts, tickets)."""
        words, letters = self.words.rows(query.texts), self._letters.rows(query.texts)
        return self._mean(words, letters, query.vectors.astype(float))

    def scores(self, alike: Array) -> Array:
        """Shape (texts, teams); 0 says as often as usual."""
        return np.asarray(alike @ self._weights)

    def unseen_scores(self, folds: NDArray[np.int64]) -> Array:
        """Of each past ticket, as if its part had not been learned."""
        scores = np.zeros_like(self._weights)
        for fold in np.unique(folds):
            (part,) = np.nonzero(folds == fold)
            errors = np.linalg.solve(self._inverse[np.ix_(part, part)], self._weights[part])
            scores[part] = self._teams[part] - self._usual - errors
        return np.asarray(scores)

    def _mean(self, words: csr_matrix, letters: csr_matrix, vectors: Array) -> Array:
        by_words, by_letters = self.words.alike(words), self._letters.alike(letters)
        return np.asarray((by_words + by_letters + vectors @ self._vectors.T) / 3)
