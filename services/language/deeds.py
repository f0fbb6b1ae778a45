"""What an instruction does: looks, supplies what lacks, cuts what is too much, or mends."""

import re

from services.language.names import words_of
from services.language.words import stem, stems

_CHECKING = re.compile(
    r"[\s\d.)]*(?:(?:first|next|then|now|also|please)\b[\s,]*)*"
    r"(?:(?:re-?|double-?)?check|verify|confirm|ensure|make sure|inspect|examine|review|look"
    r"|compare|determine|identify|validate|test|monitor|observe|view|see|find|get|list|show"
    r"|display|investigate|diagnose|query|measure|watch|gather|collect|read|assess|analy[sz]e"
    r"|describe|audit|ping|trace|locate|note|record|establish|ask|understand)(?:e?s|ing)?\b",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(
    r"\s*(?:only\s+)?(?:if|when|once|unless|in case|should|after (?:check|verif|confirm|mak)\w*)\b",
    re.IGNORECASE,
)


def only_finds_out(step: str) -> bool:
    """Whether it begins with a verb that changes nothing: `Then check`, `Make sure`."""
    return _CHECKING.match(step) is not None


def begins_with_condition(step: str) -> bool:
    """Whether it begins with the condition under which it is done."""
    return _CONDITIONAL.match(step) is not None


def first_stem(step: str) -> str:
    """The stem of its first word; empty where it has none."""
    said = words_of(step)
    return stem(said[0]) if said else ""


def supplies(stemmed: str) -> bool:
    """Whether the verb supplies what is missing."""
    return stemmed in stems("deeds", "supplying")


def cuts(stemmed: str) -> bool:
    """Whether the verb takes away, or makes room or time."""
    return stemmed in stems("deeds", "cutting")


def mends(stemmed: str) -> bool:
    """Whether the verb is of a remedy, whatever it does."""
    return supplies(stemmed) or cuts(stemmed) or stemmed in stems("deeds", "mending")


def checks(stemmed: str) -> bool:
    """Whether the verb only looks."""
    return stemmed in stems("deeds", "checking")
