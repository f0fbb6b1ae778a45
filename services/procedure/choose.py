"""Which of a page's procedures treats the fault of a ticket."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from services.language.words import tokenise
from services.procedure.model import Choice, Do, Procedure, questions

_FIRST_NODES = 6
"""Nodes whose words tell what a procedure is about; later ones are about repairing."""
_OWN_WORDS = 3.0
"""What a word of the title or of the fault counts, when a word of the first steps counts 1."""


def ranked_procedures(procedures: Sequence[Procedure], ticket_text: str) -> list[tuple[int, float]]:
    """Places of the procedures with how much of the ticket they speak of (0–1), the best first.

    Words count by how few of the procedures have them; among equals the page's order stands.
    """
    known = [_words(procedure) for procedure in procedures]
    rarity = _rarity(words.keys() for words in known)
    ticket = frozenset(tokenise(ticket_text))
    scored = [(place, _shared(ticket, words, rarity)) for place, words in enumerate(known)]
    return sorted(scored, key=lambda item: -item[1])


def procedure_for(procedures: Sequence[Procedure], ticket_text: str) -> Procedure | None:
    """The one that speaks most of what the ticket says; None where the page tells nothing."""
    ranked = ranked_procedures(procedures, ticket_text)
    return procedures[ranked[0][0]] if ranked else None


def _words(procedure: Procedure) -> dict[str, float]:
    counted: dict[str, float] = {}
    for text in (procedure.title, procedure.treats):
        counted.update(dict.fromkeys(tokenise(text), _OWN_WORDS))
    for text in _first_texts(procedure):
        for word in set(tokenise(text)):
            counted.setdefault(word, 1.0)
    return counted


def _first_texts(procedure: Procedure) -> Iterable[str]:
    for _, node in zip(range(_FIRST_NODES), procedure.walk(), strict=False):
        if isinstance(node, Do):
            yield node.text
        elif isinstance(node, Choice):
            yield node.question
            yield from (asked.text for arm in node.arms for asked in questions(arm.guard))


def _rarity(texts: Iterable[Iterable[str]]) -> dict[str, float]:
    counts = Counter(word for words in texts for word in words)
    return {word: 1 / (1 + math.log(count)) for word, count in counts.items()}


def _shared(ticket: frozenset[str], words: dict[str, float], rarity: dict[str, float]) -> float:
    total = math.fsum(weight * rarity[word] for word, weight in words.items())
    shared = math.fsum(words[word] * rarity[word] for word in words.keys() & ticket)
    return shared / math.sqrt(total) if total else 0.0
