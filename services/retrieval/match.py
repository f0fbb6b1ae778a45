"""Literal overlap of a query with a text: words, and runs of words.

Words weigh by how few of the candidates at hand have them, so that no statistics of the whole store
are needed: what every candidate says does not tell them apart.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from services.language.words import rarity, tokenise

_RUN = 3
"""Words in a run: short enough to survive a changed name, long enough to be rare."""

WordRun = tuple[str, ...]
_Term = TypeVar("_Term", str, WordRun)


class Terms(NamedTuple):
    """Words and runs of a text, in the form that is compared."""

    words: frozenset[str]
    runs: frozenset[WordRun]


@lru_cache(maxsize=4096)
def terms_of(text: str) -> Terms:
    """Return the words of a text and its runs."""
    return terms_in(tokenise(text))


def terms_in(words: Sequence[str]) -> Terms:
    """Return the words and all runs of three; a shorter text is a single run."""
    if len(words) <= _RUN:
        runs = frozenset([tuple(words)]) if words else frozenset[WordRun]()
    else:
        runs = frozenset(zip(*(words[at:] for at in range(_RUN)), strict=False))
    return Terms(frozenset(words), runs)


def union(parts: Iterable[Terms]) -> Terms:
    """Return the terms that several texts contain together."""
    listed = list(parts)
    if len(listed) == 1:
        return listed[0]
    words = frozenset[str]().union(*(part.words for part in listed))
    return Terms(words, frozenset[WordRun]().union(*(part.runs for part in listed)))


class Rarity:
    """Inverse document frequency among the candidates of one query."""

    def __init__(self, candidates: Sequence[Terms]) -> None:
        self._words = _Weights([each.words for each in candidates])
        self._runs = _Weights([each.runs for each in candidates])

    def of_words(self, words: frozenset[str]) -> dict[str, float]:
        """Return the weights of those words that occur in a candidate."""
        return {word: self._words[word] for word in sorted(words) if self._words.occurs(word)}

    def share_of_words(self, wanted: frozenset[str], present: frozenset[str]) -> float:
        """Return the weighted share, 0–1, of `wanted` that is `present`; 0 if nothing is wanted."""
        return self._words.share(wanted, present)

    def share_of_runs(self, wanted: frozenset[WordRun], present: frozenset[WordRun]) -> float:
        """Return the same share for runs."""
        return self._runs.share(wanted, present)


class _Weights(dict[_Term, float]):
    """Weights by term, computed when first needed."""

    def __init__(self, candidates: Sequence[frozenset[_Term]]) -> None:
        super().__init__()
        self._candidates: Sequence[frozenset[_Term]] = candidates
        self._masses: dict[frozenset[_Term], float] = {}

    def __missing__(self, term: _Term) -> float:
        # What no candidate has weighs the most; what all have, next to nothing.
        count = sum(term in each for each in self._candidates)
        self[term] = weight = rarity(count, len(self._candidates))
        return weight

    def occurs(self, term: _Term) -> bool:
        """Return True if some candidate contains the term."""
        return any(term in each for each in self._candidates)

    def share(self, wanted: frozenset[_Term], present: frozenset[_Term]) -> float:
        if wanted not in self._masses:
            self._masses[wanted] = sum(self[term] for term in wanted)
        total = self._masses[wanted]
        return sum(self[term] for term in wanted & present) / total if total > 0 else 0.0
