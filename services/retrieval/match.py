"""How much of a query stands literally in a text: words and runs of words.

Words weigh by how few of the candidates at hand have them, so that no statistics of the whole
store are needed: what every candidate says does not tell them apart.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from services.language.words import rarity, tokenise

_RUN = 3
"""Words in a run: short enough to survive a changed name, long enough to be rare."""

Run = tuple[str, ...]
_Term = TypeVar("_Term", str, Run)


class Terms(NamedTuple):
    """A text as it is compared."""

    words: frozenset[str]
    runs: frozenset[Run]


@lru_cache(maxsize=4096)
def terms_of(text: str) -> Terms:
    """The words of a text and its runs."""
    return terms_in(tokenise(text))


def terms_in(words: Sequence[str]) -> Terms:
    """The words and the runs of three words in a row; fewer are one run."""
    if len(words) <= _RUN:
        runs = frozenset([tuple(words)]) if words else frozenset[Run]()
    else:
        runs = frozenset(zip(*(words[at:] for at in range(_RUN)), strict=False))
    return Terms(frozenset(words), runs)


def union(parts: Iterable[Terms]) -> Terms:
    """What several texts hold together."""
    listed = list(parts)
    if len(listed) == 1:
        return listed[0]
    words = frozenset[str]().union(*(part.words for part in listed))
    return Terms(words, frozenset[Run]().union(*(part.runs for part in listed)))


class Rarity:
    """Inverse document frequency among the candidates of one query."""

    def __init__(self, candidates: Sequence[Terms]) -> None:
        self._words = _Weights([each.words for each in candidates])
        self._runs = _Weights([each.runs for each in candidates])

    def of_words(self, words: frozenset[str]) -> dict[str, float]:
        """The weight of each of these words that a candidate has."""
        return {word: self._words[word] for word in sorted(words) if self._words.is_known(word)}

    def share_of_words(self, wanted: frozenset[str], found: frozenset[str]) -> float:
        """Weighted share, 0–1, of `wanted` that is among `found`; nothing wanted gives 0."""
        return self._words.share(wanted, found)

    def share_of_runs(self, wanted: frozenset[Run], found: frozenset[Run]) -> float:
        """The same for runs."""
        return self._runs.share(wanted, found)


class _Weights(dict[_Term, float]):
    """By term; each is weighed when it is first asked for."""

    def __init__(self, candidates: Sequence[frozenset[_Term]]) -> None:
        super().__init__()
        self._candidates: Sequence[frozenset[_Term]] = candidates
        self._masses: dict[frozenset[_Term], float] = {}

    def __missing__(self, term: _Term) -> float:
        # What no candidate has weighs the most; what all have, next to nothing.
        count = sum(term in each for each in self._candidates)
        self[term] = weight = rarity(count, len(self._candidates))
        return weight

    def is_known(self, term: _Term) -> bool:
        """Whether a candidate has it."""
        return any(term in each for each in self._candidates)

    def share(self, wanted: frozenset[_Term], found: frozenset[_Term]) -> float:
        if wanted not in self._masses:
            self._masses[wanted] = sum(self[term] for term in wanted)
        total = self._masses[wanted]
        return sum(self[term] for term in wanted & found) / total if total > 0 else 0.0
