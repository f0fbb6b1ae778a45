"""What a ticket says already, if need be in other words: it is not asked."""

from collections.abc import Sequence

import numpy as np

from services.knowledge.ports import Embedder
from services.language.deeds import tells_deed
from services.language.sentences import sentences
from services.language.words import tokenise

_SHARE = 0.8
"""Share of a question's words from which a ticket speaks of what it asks."""
_LIKENESS = 0.62
"""Cosine of a question and a sentence from which the sentence is taken for its answer.

Of 95 pairs of tickets and open decisions of drawn pages, even ids, labelled by reading, 11 of the
15 that are so alike were answers; of 100 of odd ids 8 of 14. To ask for what was said is worse than
to ask one question less.
"""
_MOST_SENTENCES = 16
_LONGEST = 400
"""Characters of a sentence that are compared."""


class Said:
    """The words and sentences of one ticket."""

    def __init__(self, ticket_text: str, embedder: Embedder | None = None) -> None:
        """Without an embedder what is said in quite other words is not seen."""
        self._words = frozenset(tokenise(ticket_text))
        told = (each for line in ticket_text.splitlines() for each in sentences(line))
        self._sentences = [each[:_LONGEST] for each in dict.fromkeys(told)][:_MOST_SENTENCES]
        self._embedder = embedder

    def open(self, questions: Sequence[str]) -> list[str]:
        """Those questions that the ticket gives no answer to, in their order."""
        left = [each for each in questions if not self._is_told(each)]
        if self._embedder is None or not left or not self._sentences:
            return left
        vectors = self._embedder.embed([*self._sentences, *left])
        known, asked = np.split(vectors, [len(self._sentences)])
        likeness = (asked @ known.T).max(axis=1)
        return [each for each, alike in zip(left, likeness, strict=True) if alike < _LIKENESS]

    def _is_told(self, question: str) -> bool:
        """By its words, or by a deed of the same kind."""
        asks = set(tokenise(question))
        by_words = bool(asks) and len(asks & self._words) >= _SHARE * len(asks)
        return by_words or any(tells_deed(question, each) for each in self._sentences)
