"""What an instruction does: looks, supplies what lacks, cuts what is too much, or mends."""

import re
from functools import cache

from services.language.lexicon import pairs
from services.language.names import COMPOUND, words_of
from services.language.words import stem, stems, tokenise

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
_ASKS_FOR_A_DEED = re.compile(r"\s*(?:did|ha[sd]|have|was|were)\b", re.IGNORECASE)
_IT = re.compile(r"\b(?:it|them|this|that|everything)\b", re.IGNORECASE)


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


def tells_deed(question: str, said: str) -> bool:
    """Whether `We rebooted the switch` tells what `Has the switch been restarted?` asks.

    The same kind of deed on something that both name, or that is only called `it`. That it was not
    done tells as much.
    """
    if not _ASKS_FOR_A_DEED.match(question):
        return False
    asked, told = _done(question), _done(said)
    if not asked.keys() & told.keys():
        return False
    named = set(tokenise(question)).difference(map(stem, asked.values()))
    return bool(named.intersection(tokenise(said))) or _IT.search(said) is not None


def _done(text: str) -> dict[str, str]:
    """Kinds of the deeds that a text says were done, each with its verb as it is written."""
    found = ((_kinds().get(stem(word)), word) for word in map(str.lower, COMPOUND.findall(text)))
    return {kind: word for kind, word in found if kind and _is_past(word)}


def _is_past(word: str) -> bool:
    return word.endswith("ed") or word in pairs("verbs", "participles").values()


@cache
def _kinds() -> dict[str, str]:
    """By the stem of each verb, and of its participle where that is formed otherwise."""
    kinds, participles = pairs("deeds", "kinds"), pairs("verbs", "participles")
    irregular = {
        stem(participles[verb]): kind for verb, kind in kinds.items() if verb in participles
    }
    return {stem(verb): kind for verb, kind in kinds.items()} | irregular
