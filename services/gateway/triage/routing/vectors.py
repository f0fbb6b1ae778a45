"""Texts as sparse vectors of unit length: words or runs of letters, weighed by their rarity."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Array = NDArray[np.float64]
Terms = Callable[[str], Mapping[str, int]]

_SHORTEST, _LONGEST = 3, 5
_RUN = re.compile(r"\S+")
_MAX_RUNS = 400
"""Words whose letters are looked at; a longer text has said what it is about by then."""


def letter_runs(text: str) -> Counter[str]:
    """Runs of three to five letters within each word, which words of one stem share."""
    words = (f" {word} " for word in _RUN.findall(text.lower())[:_MAX_RUNS])
    return Counter(
        word[start : start + length]
        for word in words
        for length in range(_SHORTEST, _LONGEST + 1)
        for start in range(max(1, len(word) - length + 1))
    )


class SparseSpace:
    """Terms of past texts and their inverse document frequency; terms never met are left out."""

    def __init__(self, terms: Terms, counts: Sequence[Mapping[str, int]]) -> None:
        """`counts` are the terms of past texts, as `terms` counts those of others."""
        self._terms = terms
        found = Counter(term for count in counts for term in count)
        self.index = {term: place for place, term in enumerate(found)}
        rarity = np.log((1 + len(counts)) / (1 + np.array(list(found.values()), dtype=float))) + 1
        self.rarity: Array = rarity
        self.texts = self._rows(counts)
        """Shape (texts, terms), rows of unit length."""
        self._by_term = self.texts.T.tocsr()

    def alike(self, rows: csr_matrix) -> Array:
        """Cosines of rows to the past texts: shape (rows, texts)."""
        return np.asarray((rows @ self._by_term).toarray())

    def rows(self, texts: Sequence[str]) -> csr_matrix:
        """Shape (texts, terms), rows of unit length; of zeros where no term is known."""
        return self._rows([self._terms(text) for text in texts])

    def _rows(self, counts: Sequence[Mapping[str, int]]) -> csr_matrix:
        known = [[(self.index[t], n) for t, n in c.items() if t in self.index] for c in counts]
        ends = np.cumsum([0, *(len(row) for row in known)])
        places = np.array([place for row in known for place, _ in row], dtype=np.int64)
        often = np.array([n for row in known for _, n in row], dtype=float)
        weights = (1 + np.log(often)) * self.rarity[places] if len(places) else often
        rows = csr_matrix((weights, places, ends), shape=(len(counts), len(self.index)))
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        rows.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(ends))
        return rows
