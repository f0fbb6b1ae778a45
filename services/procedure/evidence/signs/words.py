"""What a step and its lines say."""

import math
import re

from services.language.cues import (
    closes,
    dismisses,
    escalates,
    is_otherwise,
    is_outcome,
    is_success,
    otherwise,
)
from services.language.deeds import checks, first_stem, mends
from services.language.jumps import leads
from services.language.sentences import sentences
from services.language.states import negates, polarity
from services.procedure.evidence.page_lines import CitedPages, Lines
from services.workflow.model import Step, StepKind

_CUE = re.compile(r"\b(?:if|when|unless|in case|otherwise|else|only)\b", re.IGNORECASE)
_LEADING = re.compile(r"^\W*(?:\d+[.)]\s*)?(?:if|when|unless|in case|for)\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:no|not|n't|never|without|unless|otherwise|fail\w*|cannot|missing)\b", re.IGNORECASE
)
_MOST_SENTENCES = 6


def leads_with_condition(text: str) -> bool:
    """Whether a condition stands in front."""
    return _LEADING.search(text) is not None


def is_negated(text: str) -> bool:
    """Whether something is said to be not so."""
    return _NEGATED.search(text) is not None


def said(source: CitedPages, lines: Lines) -> dict[str, float]:
    """Signs of the lines; none where there are no lines."""
    if not lines:
        return {}
    text = source.text(lines)
    parts = sentences(text)[:_MOST_SENTENCES]
    return {
        "cue": float(bool(_CUE.search(text))),
        "leading cue": float(
            any(map(leads_with_condition, parts)) or leads_with_condition(source.words(min(lines)))
        ),
        "otherwise": float(any(otherwise(part) or is_otherwise(part) for part in parts)),
        "outcome": float(is_outcome(text)),
        "escalation": float(any(map(escalates, parts))),
        "close": float(any(closes(part) or dismisses(part) for part in parts)),
        "jump": float(any(leads(part) is not None for part in parts)),
        "colon": float(text.rstrip().endswith(":")),
        "asks": float("?" in text),
        "negated": float(is_negated(text)),
        "only": float("only" in text.lower()),
        "lines": math.log1p(len(lines)),
    }


def told(step: Step) -> dict[str, float]:
    """Signs of the step's own words and kind."""
    text, first = step.text, first_stem(step.text)
    return {
        "tells escalation": float(escalates(text)),
        "tells negation": float(negates(text)),
        "is end": float(step.kind is StepKind.TERMINAL),
        "is question": float(step.kind is StepKind.DECISION),
        "is implied": float(step.implied),
        "tells check": float(checks(first)),
        "tells remedy": float(mends(first)),
        "polarity": polarity(text),
        "tells outcome": float(is_outcome(text)),
        "tells success": float(is_success(text)),
    }
