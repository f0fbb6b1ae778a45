"""How a decision of a page is put to a person: in its own words, in the page's, or not at all."""

import re
from collections.abc import Iterator, Mapping, Sequence

from services.gateway.ticket.question import words
from services.knowledge.page.block import plain
from services.knowledge.page.parsing import REMEMBERED_LENGTH, parse_page
from services.knowledge.page.word_lines import word_lines
from services.language.answers import answer_of
from services.language.asking import (
    is_for_a_person,
    is_negated,
    is_well_asked,
    is_whole,
    is_whole_name,
    names_something,
)
from services.language.clauses import condition
from services.language.questions import checked, question
from services.language.sentences import sentences
from services.workflow.model import Citation, Step

MOST_CHOICES = 6
"""What a person takes in at a glance; further ones are left for another question."""
_LONGEST_VALUE = 60
"""Characters of a value that is one of several."""
_CASE = re.compile(r"is the problem:\s+(?P<name>.+)\?$", re.IGNORECASE)
"""How a reading asks for the case that a heading names."""
_FROM_WHICH = re.compile(r"(?:which|what|who|where|how)\b", re.IGNORECASE)
_SAME_WORDS = 0.75
"""Share of the words that a clause and a decision must have in common to say the same."""


def asked_words(step: Step, answers: Sequence[str], texts: Mapping[str, str]) -> str:
    """The question that asks this decision; empty where nobody could answer it.

    `texts` of the pages by their ids. A choice among more than yes and no is asked where the
    answers are values of one thing, so that each rules out the others by itself.
    """
    said = " ".join(step.text.split())
    said = said[:1].upper() + said[1:]
    if is_for_a_person(said) or len(answers) > MOST_CHOICES:
        return ""
    if sorted(map(answer_of, answers)) != [-1.0, 1.0]:
        is_value = _FROM_WHICH.match(said) and all(map(_is_value, answers))
        return said if is_value and is_well_asked(said) else ""
    case = _CASE.match(said)
    if case:
        name = case["name"]
        return f"Is this the problem: “{name}”?" if is_whole_name(name) else ""
    is_well = is_well_asked(said) and not _FROM_WHICH.match(said)
    if is_well and not is_negated(said):
        return said
    clause = page_clause(step, texts)
    if clause:
        return f"Is this so: “{clause}”?"
    return said if is_well else ""


def page_clause(step: Step, texts: Mapping[str, str]) -> str:
    """The clause of the page that the decision asks for, word for word; empty where none is whole.

    It is one of the lines that the step cites, and asks the same: made a question by the rules of
    reading it is the decision, or nearly, and it is not the opposite.
    """
    asks = words(step.text)
    clauses = [clause for each in step.citations for clause in _clauses(each, texts)]
    fit = [each for each in dict.fromkeys(clauses) if is_whole(each) and not is_for_a_person(each)]
    same = (each for each in fit if words(question(each)) == asks)
    near = (
        each
        for each in fit
        if is_negated(each) == is_negated(step.text) and _common(words(question(each)), asks)
    )
    return next(same, None) or next(near, "")


def _common(one: str, other: str) -> bool:
    """Whether two texts have nearly all of their words in common."""
    a, b = set(one.split()), set(other.split())
    return len(a & b) >= _SAME_WORDS * len(a | b)


def _clauses(cited: Citation, texts: Mapping[str, str]) -> Iterator[str]:
    """What the cited lines say that may be so, in their words."""
    page = parse_page(texts.get(cited.document_id, "")[:REMEMBERED_LENGTH])
    lines = (line for place in page.places() for line in word_lines(place.block))
    told = [plain(words) for n, words in lines if cited.start_line <= n <= cited.end_line]
    for text in (*told, " ".join(told)):
        for sentence in sentences(text):
            stated = condition(sentence)
            found = (stated.text if stated else "", checked(sentence), sentence)
            for clause in filter(None, found):
                said = " ".join(clause.split()).strip(" .:;,")
                yield from (_before_a_deed(said), said)


def _before_a_deed(clause: str) -> str:
    """The first half of a clause that goes on with what to do then."""
    head, comma, _ = clause.partition(", ")
    return head if comma and is_whole(head) else clause


def _is_value(answer: str) -> bool:
    """Whether an answer is one of several values, and no answer to everything else."""
    is_short = 0 < len(answer) <= _LONGEST_VALUE and not answer_of(answer)
    return is_short and is_whole_name(answer, least=1) and names_something(answer)
