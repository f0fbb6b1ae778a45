"""Kinds of instructions: check, supply what lacks, reduce what is too much, repair."""

import re

from services.language.names import COMPOUND, words_of
from services.language.words import pairs, stem, stems, tokenise

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
_DEED_QUESTION = re.compile(r"\s*(?:did|ha[sd]|have|was|were)\b", re.IGNORECASE)
_KINDS = {
    stem(form): kind
    for verb, kind in pairs("deeds", "kinds").items()
    for form in (verb, pairs("verbs", "participles").get(verb, verb))
}
"""Kinds of deeds by the stems of their verbs and irregular participles."""
_IT = re.compile(r"\b(?:it|them|this|that|everything)\b", re.IGNORECASE)


def is_inspection(step: str) -> bool:
    """Return True if the step begins with a verb that changes nothing: `Then check`."""
    return _CHECKING.match(step) is not None


def begins_with_condition(step: str) -> bool:
    """Return True if the step begins with the condition under which it is done."""
    return _CONDITIONAL.match(step) is not None


def first_stem(step: str) -> str:
    """Return the stem of the step's first word; empty if it has no word."""
    tokens = words_of(step)
    return stem(tokens[0]) if tokens else ""


def is_repair_verb(stemmed: str) -> bool:
    """Return True if the verb is one of a remedy: to supply, to reduce or to mend something."""
    return any(stemmed in stems("deeds", kind) for kind in ("supplying", "cutting", "mending"))


def is_check_verb(stemmed: str) -> bool:
    """Return True if the verb only looks."""
    return stemmed in stems("deeds", "checking")


def reports_deed(question: str, report: str) -> bool:
    """Return True if the report says whether the deed of the question was done.

    `We rebooted the switch` does for `Has the switch been restarted?`: the same kind of deed on a
    thing that both name, or that the report calls `it`. A report that it was not done counts too.
    """
    if not _DEED_QUESTION.match(question):
        return False
    requested, reported = _past_deeds(question), _past_deeds(report)
    if not requested.keys() & reported.keys():
        return False
    named = set(tokenise(question)).difference(map(stem, requested.values()))
    return bool(named.intersection(tokenise(report))) or _IT.search(report) is not None


def _past_deeds(text: str) -> dict[str, str]:
    """Return the kinds of the deeds that a text reports, each with its verb as written."""
    kinds = ((_KINDS.get(stem(word)), word) for word in map(str.lower, COMPOUND.findall(text)))
    irregular = pairs("verbs", "participles").values()
    return {
        kind: word for kind, word in kinds if kind and (word.endswith("ed") or word in irregular)
    }
