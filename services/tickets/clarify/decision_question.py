"""Wording of a decision as a question to a person: its own, the page's, or none at all."""

import re
from collections.abc import Iterator, Mapping, Sequence

from services.knowledge.page.block import plain
from services.knowledge.page.parsing import REMEMBERED_LENGTH, parse_page
from services.knowledge.page.word_lines import word_lines
from services.language.answers import answer_of
from services.language.clauses import parse_condition
from services.language.question_quality import (
    is_complete_name,
    is_complete_statement,
    is_for_a_person,
    is_negated,
    is_well_formed,
    names_something,
)
from services.language.questions import as_question, statement_to_check
from services.language.sentences import sentences
from services.tickets.ticket.question import words
from services.workflow.model import Citation, Step

MOST_CHOICES = 6
"""Choices that a person takes in at a glance; others are left for another question."""
_LONGEST_VALUE = 60
"""Characters of a value that is one of several."""
_CASE = re.compile(r"is the problem:\s+(?P<name>.+)\?$", re.IGNORECASE)
"""Pattern by which a reading asks for the case that a heading names."""
_FROM_WHICH = re.compile(r"(?:which|what|who|where|how)\b", re.IGNORECASE)
_SAME_WORDS = 0.75
"""Share of the words that a clause and a decision must have in common to say the same."""


def question_text(step: Step, answers: Sequence[str], texts: Mapping[str, str]) -> str:
    """Return the text that asks this decision; empty if nobody could answer it.

    `texts` holds the pages by their ids. A choice among more than yes and no is asked if the
    answers are values of one thing, so that each excludes the others.
    """
    text = " ".join(step.text.split())
    text = text[:1].upper() + text[1:]
    if is_for_a_person(text) or len(answers) > MOST_CHOICES:
        return ""
    if sorted(map(answer_of, answers)) != [-1.0, 1.0]:
        is_value = _FROM_WHICH.match(text) and all(map(_is_value, answers))
        return text if is_value and is_well_formed(text) else ""
    case = _CASE.match(text)
    if case:
        name = case["name"]
        return f"Is this the problem: “{name}”?" if is_complete_name(name) else ""
    is_well = is_well_formed(text) and not _FROM_WHICH.match(text)
    if is_well and not is_negated(text):
        return text
    clause = page_clause(step, texts)
    if clause:
        return f"Is this so: “{clause}”?"
    return text if is_well else ""


def page_clause(step: Step, texts: Mapping[str, str]) -> str:
    """Return the page's clause that the decision asks, word for word; empty if none is whole.

    It comes from the lines that the step cites and asks the same: turned into a question by the
    rules of reading it is the decision, or nearly so, and not its opposite.
    """
    asks = words(step.text)
    clauses = [clause for each in step.citations for clause in _clauses(each, texts)]
    fit = [
        each
        for each in dict.fromkeys(clauses)
        if is_complete_statement(each) and not is_for_a_person(each)
    ]
    same = (each for each in fit if words(as_question(each)) == asks)
    near = (
        each
        for each in fit
        if is_negated(each) == is_negated(step.text)
        and _share_words(words(as_question(each)), asks)
    )
    return next(same, None) or next(near, "")


def _share_words(one: str, other: str) -> bool:
    """Return True if two texts have nearly all of their words in common."""
    a, b = set(one.split()), set(other.split())
    return len(a & b) >= _SAME_WORDS * len(a | b)


def _clauses(cited: Citation, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the conditions that the cited lines state, in their words."""
    page = parse_page(texts.get(cited.document_id, "")[:REMEMBERED_LENGTH])
    lines = (line for place in page.places() for line in word_lines(place.block))
    lines_of_step = [plain(words) for n, words in lines if cited.start_line <= n <= cited.end_line]
    for text in (*lines_of_step, " ".join(lines_of_step)):
        for sentence in sentences(text):
            stated = parse_condition(sentence)
            candidates = (stated.text if stated else "", statement_to_check(sentence), sentence)
            for clause in filter(None, candidates):
                clause_text = " ".join(clause.split()).strip(" .:;,")
                head, comma, _ = clause_text.partition(", ")  # what to do then comes behind it
                yield from ([head] if comma and is_complete_statement(head) else [])
                yield clause_text


def _is_value(answer: str) -> bool:
    """Return True for one of several values, False for an answer that covers all the rest."""
    is_short = 0 < len(answer) <= _LONGEST_VALUE and not answer_of(answer)
    return is_short and is_complete_name(answer, least=1) and names_something(answer)
