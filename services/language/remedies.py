"""Remedies that are told as things: `Increasing the quota`, `Restart of the service`."""

import re

from services.language.clauses import directs
from services.language.questions import states
from services.language.sentences import capitalised
from services.language.verbs import base_of_gerund, is_base_form

_NAMES = re.compile(
    r"\b(?:mitigations?|remed(?:y|ies)|solutions?|work-?arounds?|resolutions?|fix(?:es)?"
    r"|options?|measures?|actions?|approach(?:es)?|ways?|steps?)\b[^.?]*:$",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:causes?|reasons?|because|due to|indicates?|effects?|see|refer|read|requires?|not)\b",
    re.IGNORECASE,
)
_DEPENDING = re.compile(r"^depending on[^,]*,", re.IGNORECASE)
_OPTIONS = re.compile(
    r"\b(?:can|could|may|might) be\b|\b(?:one|any|either) of\b|\boptions?\b|\balternatives?\b"
    r"|^depending on\b",
    re.IGNORECASE,
)
_GERUND = re.compile(r"(?P<verb>\w+ing)\s+(?P<rest>\S.*)", re.DOTALL)
_NOUN = re.compile(
    r"(?:an?\s+|the\s+)?(?P<verb>\w+)\s+of\s+(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL
)


def names_remedies(lead: str) -> bool:
    """Whether the sentence says that what follows are ways to mend the fault."""
    said = _DEPENDING.sub("", lead)
    return _NAMES.search(said) is not None and _NOT_YET.search(said) is None


def are_options(lead: str) -> bool:
    """Whether one of the remedies is to be taken, not all."""
    return names_remedies(lead) and _OPTIONS.search(lead) is not None


def remedy(text: str) -> str:
    """What a remedy that is told as a thing tells to do; empty where it names no deed."""
    if states(text) or directs(text):
        return ""  # `Restarting it helps`
    gerund = _GERUND.match(text)
    base = base_of_gerund(gerund["verb"]) if gerund else ""
    if gerund and base:
        return capitalised(f"{base} {gerund['rest']}")
    noun = _NOUN.match(text)
    if noun and is_base_form(noun["verb"].lower()):
        return f"{capitalised(noun['verb'].lower())} {noun['rest']}"
    return ""
