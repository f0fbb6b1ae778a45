"""Which thing `it` is, where a sentence asks about one and the next says `if it is down`."""

import re

_SUBJECT = (
    r"\b(?:whether|if|that)\s+(?P<subject>(?:the|an?|your|this|that|each|every|all|any|both)\s"
    r"(?:(?!(?:is|are|was|were|and|or|that|which|who|has|have|does|do|not)\b)[^\s,;:.()]+\s+){1,8}?)"
)
_STATE = re.compile(rf"{_SUBJECT}(?:is|are)\s(?!an?\b|the\b)", re.IGNORECASE)
_POINTING = re.compile(
    r"^(?P<word>if|unless|when|in case|should)\s(?:it|they)\s"
    r"(?P<verb>is\b|are\b|(?:does|do)(?:\s+not|n't)?\s+(?P<base>\w+)|(?P<said>\w+))",
    re.IGNORECASE,
)


def asked_about(sentence: str, condition: str) -> str:
    """What `it` is in a condition on the state or the deed that the sentence asks about.

    `Check whether the port is up` and `If it is down`: the port; `Check that the server answers`
    and `If it does not answer`: the server. Empty where they speak of different things.
    """
    pointing = _POINTING.match(condition)
    if pointing is None:
        return ""
    verb = pointing["base"] or pointing["said"]
    if verb:
        base = verb.lower().removesuffix("es" if verb.endswith("sses") else "s")
        found = re.search(rf"{_SUBJECT}{re.escape(base)}(?:s|es)?\b", sentence, re.IGNORECASE)
    else:
        found = _STATE.search(sentence)
    return found["subject"].strip() if found else ""


def named(condition: str, subject: str) -> str:
    """The condition with the subject in place of the pronoun that it begins with."""
    return _POINTING.sub(lambda found: f"{found['word']} {subject} {found['verb']}", condition, 1)
