"""Choice of the page's procedure that treats the fault of a ticket."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from services.language.words import tokenise
from services.runbook.model import Choice, Do, Procedure, questions

_FIRST_NODES = 6
"""Nodes whose words describe the fault; later ones are about the repair."""
_TITLE_WEIGHT = 3.0
"""The weight of a word of the title or the fault, if a word of the first steps weighs 1."""


def ranked_procedures(procedures: Sequence[Procedure], ticket_text: str) -> list[tuple[int, float]]:
    """Return the procedures' indexes with their overlap with the ticket (0–1), best first.

    Words count by how few of the procedures have them; equals keep the page's order.
    """
    weights = [_word_weights(procedure) for procedure in procedures]
    counts = Counter(word for words in weights for word in words)
    rarity = {word: 1 / (1 + math.log(count)) for word, count in counts.items()}
    ticket = frozenset(tokenise(ticket_text))
    scored: list[tuple[int, float]] = []
    for place, words in enumerate(weights):
        total = math.fsum(weight * rarity[word] for word, weight in words.items())
        shared = math.fsum(words[word] * rarity[word] for word in words.keys() & ticket)
        scored.append((place, shared / math.sqrt(total) if total else 0.0))
    return sorted(scored, key=lambda item: -item[1])


def procedure_for(procedures: Sequence[Procedure], ticket_text: str) -> Procedure | None:
    """Return the procedure with the largest overlap with the ticket; None if there is none."""
    ranked = ranked_procedures(procedures, ticket_text)
    return procedures[ranked[0][0]] if ranked else None


def _word_weights(procedure: Procedure) -> dict[str, float]:
    weights: dict[str, float] = {}
    for text in (procedure.title, procedure.treats):
        weights.update(dict.fromkeys(tokenise(text), _TITLE_WEIGHT))
    for node in islice(procedure.walk(), _FIRST_NODES):
        texts: list[str] = []
        if isinstance(node, Do):
            texts = [node.text]
        elif isinstance(node, Choice):
            states = (state.text for arm in node.arms for state in questions(arm.guard))
            texts = [node.question, *states]
        for word in (word for text in texts for word in tokenise(text)):
            weights.setdefault(word, 1.0)
    return weights
