"""How much of a query stands literally in a text: words and runs of words.

Words weigh by how few of the candidates at hand have them, so that no statistics of the whole
store are needed: what every candidate says does not tell them apart.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from services.knowledge.bm25 import tokenise

_RUN = 3
"""Words in a run: short enough to survive a changed name, long enough to be rare."""
_MOST_WORDS = 400
"""Words of a text that are compared."""

Run = tuple[str, ...]
_Term = TypeVar("_Term")


class Terms(NamedTuple):
    """A text as it is compared."""

    words: frozenset[str]
    runs: frozenset[Run]


@lru_cache(maxsize=8192)
def terms_of(text: str) -> Terms:
    """The words and the runs of three words in a row; a shorter text is one run."""
    words = tokenise(text)[:_MOST_WORDS]
    if len(words) <= _RUN:
        runs = {tuple(words)} if words else set()
    else:
        runs = {tuple(words[i : i + _RUN]) for i in range(len(words) - _RUN + 1)}
    return Terms(frozenset(words), frozenset(runs))


def union(parts: Iterable[Terms]) -> Terms:
    """What several texts hold together."""
    words: set[str] = set()
    runs: set[Run] = set()
    for part in parts:
        words |= part.words
        runs |= part.runs
    return Terms(frozenset(words), frozenset(runs))


class Rarity:
    """Inverse document frequency among the candidates of one query."""

    def __init__(self, candidates: Sequence[Terms]) -> None:
        self._total = len(candidates)
        self._words = Counter(word for each in candidates for word in each.words)
        self._runs = Counter(run for each in candidates for run in each.runs)

    def share_of_words(self, wanted: Collection[str], found: Collection[str]) -> float:
        """Weighted share, 0–1, of `wanted` that is among `found`; nothing wanted gives 0."""
        weights = {word: self._weight(self._words[word]) for word in wanted}
        return _share(weights, found)

    def share_of_runs(self, wanted: Collection[Run], found: Collection[Run]) -> float:
        """The same for runs."""
        weights = {run: self._weight(self._runs[run]) for run in wanted}
        return _share(weights, found)

    def _weight(self, count: int) -> float:
        """What no candidate has weighs the most; what all have, next to nothing."""
        return math.log((self._total + 1) / (count + 0.5))


def _share(weights: dict[_Term, float], found: Collection[_Term]) -> float:
    total = sum(weights.values())
    return sum(w for term, w in weights.items() if term in found) / total if total > 0 else 0.0
