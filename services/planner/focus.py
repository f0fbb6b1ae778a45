"""How much a point is about what its page is about.

Pages list more causes, checks and remedies than anybody goes through at night. What an author puts
into a decision tree is what the page keeps talking about: points that share words with the other
points, and whose words are frequent on the page.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from services.knowledge.embedding.bm25 import tokenise

_BASE = 0.23
_OVERLAP = 0.66
_FREQUENCY = 0.095
_PLACE = 0.018
"""Least squares of a point's likeness to its page's decision tree on the even ids of the
benchmark (correlation .51)."""


@dataclass(frozen=True)
class Weighed:
    """A point's likelihood, roughly 0.3–0.8, of belonging into the decision tree."""

    index: int
    weight: float


class Focus:
    """Weighs the points of one page."""

    def __init__(self, page_text: str, points: Sequence[str]) -> None:
        """`points` are all that compete, of every kind."""
        self._frequency = Counter(tokenise(page_text))
        self._terms = [frozenset(tokenise(point)) for point in points]

    def weight(self, index: int, *, place: int, kind: float = 0.0) -> float:
        """The weight of a point that is the `place`-th of its list (0 first).

        `kind` is what its kind of point is worth more or less than others.
        """
        terms = self._terms[index]
        others = (t for n, t in enumerate(self._terms) if n != index)
        overlap = sum(_cosine(terms, other) for other in others) / max(1, len(self._terms))
        said = math.fsum(math.log1p(self._frequency[term]) for term in terms) / max(1, len(terms))
        return _BASE + _OVERLAP * overlap + _FREQUENCY * said - _PLACE * place + kind


def _cosine(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / math.sqrt(max(1, len(a)) * max(1, len(b)))
