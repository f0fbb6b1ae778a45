"""What a ticket says already: it is not asked.

Likeness of meaning was tried (cosine of question and sentence): of what it took for an answer on
pages kept aside, 8 of 14 were one, at the price of embedding each sentence of each ticket.
"""

from collections.abc import Sequence

from services.language.deeds import tells_deed
from services.language.sentences import sentences
from services.language.words import tokenise

_SHARE = 0.8
"""Share of a question's words from which a ticket speaks of what it asks."""
_MOST_SENTENCES = 16
_LONGEST = 400
"""Characters of a sentence that are compared."""


class TicketStatements:
    """The words and sentences of one ticket."""

    def __init__(self, ticket_text: str) -> None:
        self._words = frozenset(tokenise(ticket_text))
        told = (each for line in ticket_text.splitlines() for each in sentences(line))
        self._sentences = [each[:_LONGEST] for each in dict.fromkeys(told)][:_MOST_SENTENCES]

    def open(self, questions: Sequence[str]) -> list[str]:
        """Those questions that the ticket gives no answer to, in their order."""
        return [each for each in questions if not self._is_told(each)]

    def _is_told(self, question: str) -> bool:
        """By its words, or by a deed of the same kind."""
        asks = set(tokenise(question))
        by_words = bool(asks) and len(asks & self._words) >= _SHARE * len(asks)
        return by_words or any(tells_deed(question, each) for each in self._sentences)
