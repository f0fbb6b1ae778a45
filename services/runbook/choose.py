"""Choice of the page's procedure that treats the fault of a ticket."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from services.knowledge.document.roles import role_of_heading
from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.parsing import parse_page
from services.language.words import tokenise
from services.runbook.model import Choice, Do, LeftOutReason, Procedure, Reading, questions
from services.runbook.program import extent_lines, line_numbers, lines_of

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


def fits_unread_section(reading: Reading, text: str, ticket_text: str) -> bool:
    """Return True if a section of the page that no procedure reads is likelier for the ticket.

    An approval vouches for the section of its own procedure alone.
    """
    procedures = reading.procedures
    ranked = ranked_procedures([*procedures, *_unread_sections(reading, text)], ticket_text)
    return bool(ranked) and ranked[0][0] >= len(procedures)


def _unread_sections(reading: Reading, text: str) -> Iterator[Procedure]:
    """Yield the outermost sections with boxes that no procedure reads, the boxes as their steps.

    Lines that the reader took for something else than a part of this page are no section of it.
    """
    background = (each for each in reading.left_out if each.reason is not LeftOutReason.OTHER)
    read = line_numbers(lines for each in background for lines in each.lines)
    read.update(*(lines_of(each) | extent_lines(each) for each in reading.procedures))
    page = parse_page(text)
    boxes = [box.block for box in find_boxes(page)]
    end = 0
    for section in page.sections():
        below = [b for b in boxes if section.start_line <= b.start_line <= section.end_line]
        is_inside = section.start_line <= end
        if not section.heading or is_inside or any(box.start_line in read for box in below):
            continue
        title = section.path[-1]
        if below and role_of_heading(title) is None:
            end = section.end_line
            body = tuple(Do(text=box.text) for box in below if box.text)
            yield Procedure(title=title, body=body)


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
