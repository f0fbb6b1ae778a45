"""How much of a query stands literally in a text: words and runs of words.

Words weigh by how few of the candidates at hand have them, so that no statistics of the whole
store are needed: what every candidate says does not tell them apart.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from services.language.words import rarity, tokenise

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
        self._words = [each.words for each in candidates]
        self._runs = [each.runs for each in candidates]
        self._weight_of_word: dict[str, float] = {}
        self._weight_of_run: dict[Run, float] = {}

    def of_words(self, words: Collection[str]) -> dict[str, float]:
        """The weight of each of these words that a candidate has."""
        found = sorted(word for word in words if any(word in each for each in self._words))
        self.share_of_words(found, ())
        return {word: self._weight_of_word[word] for word in found}

    def share_of_words(self, wanted: Collection[str], found: Collection[str]) -> float:
        """Weighted share, 0–1, of `wanted` that is among `found`; nothing wanted gives 0."""
        return _share(wanted, found, self._words, self._weight_of_word)

    def share_of_runs(self, wanted: Collection[Run], found: Collection[Run]) -> float:
        """The same for runs."""
        return _share(wanted, found, self._runs, self._weight_of_run)


def _share(
    wanted: Collection[_Term],
    found: Collection[_Term],
    candidates: Sequence[Collection[_Term]],
    known: dict[_Term, float],
) -> float:
    total = shared = 0.0
    for term in wanted:
        weight = known.get(term)
        if weight is None:
            # What no candidate has weighs the most; what all have, next to nothing.
            count = sum(term in each for each in candidates)
            known[term] = weight = rarity(count, len(candidates))
        total += weight
        shared += weight if term in found else 0.0
    return shared / total if total > 0 else 0.0
