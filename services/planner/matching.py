"""Which remedy belongs to which cause, by the words they share."""

import math
from collections import Counter
from collections.abc import Sequence

from services.knowledge.embedding.bm25 import tokenise

_POSITION_WEIGHT = 0.1
"""Lists of causes and of remedies often run in the same order: breaks ties between equals."""


def match(causes: Sequence[str], remedies: Sequence[str]) -> dict[int, int]:
    """For each cause the index of its remedy; each remedy at most once, best pairs first.

    Words are weighed by how few of the texts hold them. A pair that shares nothing is no pair.
    """
    left, right = [_terms(text) for text in causes], [_terms(text) for text in remedies]
    weight = _weights([*left, *right])
    scored = [
        (_overlap(left[i], right[j], weight) + _POSITION_WEIGHT * _nearness(i, j), i, j)
        for i in range(len(left))
        for j in range(len(right))
        if left[i] & right[j]
    ]
    pairs: dict[int, int] = {}
    for _, i, j in sorted(scored, key=lambda each: (-each[0], each[1], each[2])):
        if i not in pairs and j not in pairs.values():
            pairs[i] = j
    return pairs


def best_match(text: str, others: Sequence[str]) -> int:
    """The index of the one of `others` that shares most with `text`; the first when none does."""
    terms = [_terms(other) for other in others]
    own = _terms(text)
    weight = _weights([own, *terms])
    return max(range(len(terms)), key=lambda index: _overlap(own, terms[index], weight))


def _terms(text: str) -> frozenset[str]:
    return frozenset(tokenise(text))


def _weights(texts: Sequence[frozenset[str]]) -> dict[str, float]:
    counts = Counter(term for text in texts for term in text)
    return {term: math.log1p(len(texts) / count) for term, count in counts.items()}


def _overlap(a: frozenset[str], b: frozenset[str], weight: dict[str, float]) -> float:
    shared = math.fsum(weight[term] for term in a & b)
    total = math.sqrt(math.fsum(weight[t] for t in a) * math.fsum(weight[t] for t in b))
    return shared / total if total else 0.0


def _nearness(i: int, j: int) -> float:
    return 1 / (1 + abs(i - j))
