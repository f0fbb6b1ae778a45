"""Similarity of a ticket to past ones and to teams: by words, letters and meaning.

The ridge regression is in closed form, so that the prediction for a past ticket with its fold left
out (Rifkin and Lippert, Notes on Regularized Least Squares, 2007) costs no further fit.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from services.knowledge.ports import Vectors
from services.tickets.triage.routing.cases import entities_of

_NGRAM_LENGTHS = range(3, 6)

_RUN = re.compile(r"\S+")

_MAX_WORDS = 400
"""Words whose letters are read; a longer text has said what it is about by then."""

_RIDGE = 0.3

Array = NDArray[np.float64]

Terms = Callable[[str], Mapping[str, int]]


def letter_ngrams(text: str) -> Counter[str]:
    """Count the n-grams of three to five letters in each word, which words of one stem share."""
    words = (f" {word} " for word in _RUN.findall(text.lower())[:_MAX_WORDS])
    return Counter(
        word[start : start + length]
        for word in words
        for length in _NGRAM_LENGTHS
        for start in range(max(1, len(word) - length + 1))
    )


class SparseSpace:
    """Term space of past texts with inverse document frequencies; unknown terms are left out."""

    def __init__(self, terms: Terms, counts: Sequence[Mapping[str, int]]) -> None:
        """Build the space from `counts` of past texts; `terms` counts those of other texts."""
        self._terms = terms
        frequencies = Counter(term for count in counts for term in count)
        self.index = {term: place for place, term in enumerate(frequencies)}
        rarity = (
            np.log((1 + len(counts)) / (1 + np.array(list(frequencies.values()), dtype=float))) + 1
        )
        self.rarity: Array = rarity
        self.texts = self._rows(counts)
        """Matrix of shape (texts, terms), with rows of unit length."""
        self._by_term = self.texts.T.tocsr()

    def cosines(self, rows: csr_matrix) -> Array:
        """Return the cosines of rows to the past texts, of shape (rows, texts)."""
        return np.asarray((rows @ self._by_term).toarray())

    def rows(self, texts: Sequence[str]) -> csr_matrix:
        """Return unit rows of shape (texts, terms); a row is zero if no term is known."""
        return self._rows([self._terms(text) for text in texts])

    def _rows(self, counts: Sequence[Mapping[str, int]]) -> csr_matrix:
        rows_of_terms = [
            [(self.index[t], n) for t, n in c.items() if t in self.index] for c in counts
        ]
        ends = np.cumsum([0, *(len(row) for row in rows_of_terms)])
        places = np.array([place for row in rows_of_terms for place, _ in row], dtype=np.int64)
        often = np.array([n for row in rows_of_terms for _, n in row], dtype=float)
        weights = (1 + np.log(often)) * self.rarity[places] if len(places) else often
        rows = csr_matrix((weights, places, ends), shape=(len(counts), len(self.index)))
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        rows.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(ends))
        return rows


@dataclass(frozen=True)
class QueryTexts:
    """Texts in the forms that are compared with past ones."""

    texts: Sequence[str]
    vectors: Vectors


class SimilarityRegression:
    """Ridge regression on past tickets, with the similarity of tickets as kernel."""

    def __init__(
        self, past: QueryTexts, entities: Sequence[Mapping[str, int]], teams: Array
    ) -> None:
        """Fit past tickets; `teams` (tickets, teams) is 1 for the team that took each."""
        self.words = SparseSpace(entities_of, entities)
        self._letters = SparseSpace(letter_ngrams, [letter_ngrams(text) for text in past.texts])
        self._vectors = past.vectors.astype(float)
        self.past_similarity = self._mean(self.words.texts, self._letters.texts, self._vectors)
        """Similarity of past tickets to each other, 0–1, of shape (tickets, tickets)."""
        self._usual: Array = teams.mean(axis=0)
        self._inverse = np.linalg.inv(
            self.past_similarity + _RIDGE * np.eye(len(self.past_similarity))
        )
        self._weights = self._inverse @ (teams - self._usual)
        self._teams = teams

    def similarity(self, query: QueryTexts) -> Array:
        """Return the similarity of texts to past tickets, 0–1, of shape (texts, tickets)."""
        words, letters = self.words.rows(query.texts), self._letters.rows(query.texts)
        return self._mean(words, letters, query.vectors.astype(float))

    def scores(self, similarity: Array) -> Array:
        """Return the scores of shape (texts, teams); 0 means as often as usual."""
        return np.asarray(similarity @ self._weights)

    def unseen_scores(self, folds: NDArray[np.int64]) -> Array:
        """Return the scores of each past ticket, as if its fold had not been learned."""
        scores = np.zeros_like(self._weights)
        for fold in np.unique(folds):
            (part,) = np.nonzero(folds == fold)
            errors = np.linalg.solve(self._inverse[np.ix_(part, part)], self._weights[part])
            scores[part] = self._teams[part] - self._usual - errors
        return np.asarray(scores)

    def _mean(self, words: csr_matrix, letters: csr_matrix, vectors: Array) -> Array:
        by_words, by_letters = self.words.cosines(words), self._letters.cosines(letters)
        return np.asarray((by_words + by_letters + vectors @ self._vectors.T) / 3)


class TeamNames:
    """Names and descriptions of teams: all that is known of one that never took a ticket."""

    def __init__(self, teams: QueryTexts, texts: Sequence[str]) -> None:
        """Index the teams; `texts` of past tickets say how rare each word is."""
        self._space = SparseSpace(
            entities_of, [entities_of(text) for text in (*texts, *teams.texts)]
        )
        self._words = self._space.rows(teams.texts).T.tocsr()
        self._vectors = teams.vectors.astype(float)

    def columns(self, query: QueryTexts) -> list[Array]:
        """Return cosines by words and by meaning, each of shape (texts, teams)."""
        by_words = (self._space.rows(query.texts) @ self._words).toarray()
        return [by_words, np.asarray(query.vectors.astype(float) @ self._vectors.T)]
