"""State of things that a text expresses, by general English."""

import math

from services.language.names import words_of
from services.language.words import stem, stems, words

_DEFAULT_POLARITY = 0.25
"""The polarity without a telling word: such a question mostly asks for the desired state."""


def polarity(text: str) -> float:
    """Return the state that a text expresses: 1 fine, -1 faulty; its last words weigh most."""
    score, negated, tokens = 0.0, False, words_of(text)
    for place, word in enumerate(tokens):
        if word in words("states", "negating"):
            negated = True
            continue
        stemmed = stem(word)
        value = float(stemmed in stems("states", "fine"))
        value -= float(stemmed in stems("states", "faulty"))
        value /= 3 if stemmed in stems("states", "weak") else 1
        value *= 0.5 + (place + 1) / len(tokens)
        score += -value if negated else value
        negated = negated and not value
    if negated:
        score -= 1.0
    return math.tanh(score) if score else _DEFAULT_POLARITY


def names_fault(text: str) -> bool:
    """Return True if a word names a fault; the first word of `Under the hood` does not."""
    stemmed = [stem(word) for word in words_of(text)]
    if stemmed and stemmed[0] in stems("states", "weak"):
        stemmed = stemmed[1:]
    return any(word in stems("states", "faulty") for word in stemmed)


def negates(text: str) -> bool:
    """Return True if the text has a negation."""
    return any(word in words("states", "negating") for word in words_of(text))
