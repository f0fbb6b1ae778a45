"""Which thing `it` is, where a sentence asks about one and the next says `if it is down`."""

import re

from services.language.questions import checked

_SUBJECT = (
    r"\b(?:whether|if|that)\s+(?P<subject>(?:the|an?|your|this|that|each|every|all|any|both)\s"
    r"(?:(?!(?:is|are|was|were|and|or|that|which|who|has|have|does|do|not)\b)[^\s,;:.()]+\s+){1,8}?)"
)
_STATE = re.compile(rf"{_SUBJECT}(?:is|are)\s(?!an?\b|the\b)", re.IGNORECASE)
_POINTING = re.compile(
    r"^(?P<word>if|unless|when|in case|should)\s(?:it|they)\s"
    r"(?P<verb>(?:is|are)\b(?!\s+not,|n't,|,)|(?:does|do)(?:\s+not|n't)?\s+(?P<base>\w+)|(?P<said>\w+))",
    re.IGNORECASE,
)


_BARE = re.compile(
    r"^(?P<word>if|when)\s(?:it|they|this|that)\s(?:is|are|does|do|has|have)(?:\sso)?(?=,\s)",
    re.IGNORECASE,
)


def whole(sentence: str, asking: str) -> str:
    """`If it is, go on` with what the check before asks: `If the port is up, go on`.

    Empty where it does not point back, or at no check.
    """
    state = checked(asking)
    if state and _BARE.match(sentence):
        return _BARE.sub(lambda found: f"{found['word']} {state}", sentence, 1)
    subject = asked_about(asking, sentence)
    return named(sentence, subject) if subject else ""


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
