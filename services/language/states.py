"""What a text says of the state of things, by general English."""

import math
from functools import lru_cache

from services.language.lexicon import words
from services.language.names import words_of
from services.language.words import stem, stems

_LEAST_SHARED, _MOST_UNSHARED = 2, 2
"""Words that two statements about one thing share, and those that only one of them has."""
_UNSAID = 0.25
"""A question without a telling word asks for what should be so, more often than not."""


@lru_cache(maxsize=16384)
def polarity(text: str) -> float:
    """The state of things that a text states: 1 fine, -1 faulty; its last words weigh most."""
    score, negated, said = 0.0, False, words_of(text)
    for place, word in enumerate(said):
        if word in words("states", "negating"):
            negated = True
            continue
        value = _value(word) * (0.5 + (place + 1) / len(said))
        score += -value if negated else value
        negated = negated and not value
    if negated:
        score -= 1.0
    return math.tanh(score) if score else _UNSAID


@lru_cache(maxsize=16384)
def names_fault(text: str) -> bool:
    """Whether any of its words is one of things that fail; `Under the hood` is no such thing."""
    said = [stem(word) for word in words_of(text)]
    if said and said[0] in stems("states", "weak"):
        said = said[1:]
    return any(word in stems("states", "faulty") for word in said)


def negates(text: str) -> bool:
    """Whether it says no or not."""
    return any(word in words("states", "negating") for word in words_of(text))


def _value(word: str) -> float:
    said = stem(word)
    value = float(said in stems("states", "fine")) - float(said in stems("states", "faulty"))
    return value / 3 if said in stems("states", "weak") else value
