"""BM25 as sparse vectors.

The vector of a text holds BM25's term-frequency part; the engine multiplies by the inverse document
frequency (Qdrant's modifier "idf"), which it knows at query time. A dot product is then the BM25
score (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009).
"""

import hashlib
from collections import Counter

from services.kit.value import Value
from services.language.words import tokenise

K1 = 1.2
B = 0.75
AVERAGE_LENGTH = 120
"""Words of a usual chunk. A constant, so that a vector does not depend on the rest of the store."""


class SparseVector(Value):
    """Indices in rising order, none twice, with their weights."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


def document_vector(text: str) -> SparseVector:
    """Compute the sparse vector of a text to be searched."""
    counts = Counter(tokenise(text))
    length = sum(counts.values())
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return _vector({term: n * (K1 + 1) / (n + norm) for term, n in counts.items()})


def query_vector(text: str) -> SparseVector:
    """Compute the sparse vector of a query; a repeated word counts a little more, not double."""
    counts = Counter(tokenise(text))
    return _vector({term: 2 * n / (n + 1) for term, n in counts.items()})


def _vector(weights: dict[str, float]) -> SparseVector:
    by_index: dict[int, float] = {}
    for term, weight in weights.items():
        index = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")
        by_index[index] = by_index.get(index, 0.0) + weight
    ordered = sorted(by_index.items())
    return SparseVector(
        indices=tuple(index for index, _ in ordered), values=tuple(value for _, value in ordered)
    )
