"""Features of the words of steps, lines and answers."""

import math
import re

from services.language.answers import answer_of
from services.language.cues import (
    is_closing,
    is_dismissal,
    is_escalation,
    is_otherwise,
    is_outcome,
    is_success,
    otherwise_action,
    parse_jump,
)
from services.language.deeds import first_stem, is_check_verb, is_repair_verb
from services.language.sentences import sentences
from services.language.states import negates, polarity
from services.language.words import tokenise
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages, Lines
from services.workflow.model import Step, StepKind

_CUE = re.compile(r"\b(?:if|when|unless|in case|otherwise|else|only)\b", re.IGNORECASE)
_LEADING = re.compile(r"^\W*(?:\d+[.)]\s*)?(?:if|when|unless|in case|for)\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:no|not|n't|never|without|unless|otherwise|fail\w*|cannot|missing)\b", re.IGNORECASE
)
_MOST_SENTENCES = 6


def leads_with_condition(text: str) -> bool:
    """Return True if the text begins with a condition."""
    return _LEADING.search(text) is not None


def is_negated(text: str) -> bool:
    """Return True if the text has a word of negation or failure."""
    return _NEGATED.search(text) is not None


def line_features(source: CitedPages, lines: Lines) -> dict[str, float]:
    """Return features of the lines; none if there are no lines."""
    if not lines:
        return {}
    text = source.text(lines)
    parts = sentences(text)[:_MOST_SENTENCES]
    return {
        "cue": float(bool(_CUE.search(text))),
        "leading cue": float(
            any(map(leads_with_condition, parts)) or leads_with_condition(source.words(min(lines)))
        ),
        "otherwise": float(any(otherwise_action(part) or is_otherwise(part) for part in parts)),
        "outcome": float(is_outcome(text)),
        "escalation": float(any(map(is_escalation, parts))),
        "close": float(any(is_closing(part) or is_dismissal(part) for part in parts)),
        "jump": float(any(parse_jump(part) is not None for part in parts)),
        "colon": float(text.rstrip().endswith(":")),
        "asks": float("?" in text),
        "negated": float(is_negated(text)),
        "only": float("only" in text.lower()),
        "lines": math.log1p(len(lines)),
    }


def step_features(step: Step) -> dict[str, float]:
    """Return features of the step's own words and kind."""
    text, first = step.text, first_stem(step.text)
    return {
        "tells escalation": float(is_escalation(text)),
        "tells negation": float(negates(text)),
        "is end": float(step.kind is StepKind.TERMINAL),
        "is question": float(step.kind is StepKind.DECISION),
        "is implied": float(step.implied),
        "tells check": float(is_check_verb(first)),
        "tells remedy": float(is_repair_verb(first)),
        "polarity": polarity(text),
        "tells outcome": float(is_outcome(text)),
        "tells success": float(is_success(text)),
    }


_PLAIN = {"yes": 1.0, "no": -1.0}


def answer_features(
    grounded: GroundedWorkflow, question: Step, step: Step, answer: str
) -> dict[str, float]:
    """Return features of the answer beside the question, the step and their lines."""
    value = _PLAIN.get(answer.strip().casefold()) or answer_of(answer)
    question_text = grounded.pages.text(grounded.lines[question.id])
    step_text = grounded.pages.text(grounded.lines[step.id])
    tone = polarity(question.text)
    is_question = float(step.kind is StepKind.DECISION)
    negated = -1.0 if negates(question.text) else 1.0
    return {
        "answer": value,
        "answer in words": float(not value),
        "answer, question": value * negated,
        "answer, question and its lines": value * negated * _sign(question_text),
        "answer, question and lines of the step": value * negated * _sign(step_text),
        "answer, tone": value * tone,
        "answer, negated step": value * float(negates(step.text)),
        "answer, remedy": value * float(is_repair_verb(first_stem(step.text))) * tone,
        "answer, question follows": value * is_question,
        "answer, tone, question follows": value * is_question * tone,
        "answer, end follows": value * float(step.kind is StepKind.TERMINAL),
        "answer, outcome": value * float(is_outcome(question.text)),
        "answer, success": value * float(is_success(question.text)),
        "exits": float(len(grounded.workflow.exits(question.id))),
        **_word_features(grounded, question, step, "" if value else answer),
    }


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the shorter one's words that the other has."""
    return len(one & other) / max(1, min(len(one), len(other)))


def terms(text: str) -> frozenset[str]:
    """Return the search terms of a text."""
    return frozenset(tokenise(text))


def _word_features(
    grounded: GroundedWorkflow, question: Step, step: Step, answer: str
) -> dict[str, float]:
    question_terms, answer_terms = terms(question.text), terms(answer)
    line_terms = grounded.pages.terms(grounded.lines[step.id])
    return {
        "answer said by step": overlap(answer_terms, line_terms | terms(step.text)),
        "answer said by question": overlap(
            answer_terms, grounded.pages.terms(grounded.lines[question.id])
        ),
        "question said by lines of the step": overlap(question_terms, line_terms),
        "question said by step": overlap(question_terms, terms(step.text)),
    }


def _sign(text: str) -> float:
    return -1.0 if is_negated(text) else 1.0
