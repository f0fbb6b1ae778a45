"""Meaning of an answer: yes, no, or something in other words."""

import re

_YES = re.compile(r"(?:yes|y|true|ok|pass(?:ed|es)?|success(?:ful)?|fine|correct)\b", re.IGNORECASE)
_NO = re.compile(r"(?:no|n|false|fail(?:ed|s|ure)?|not|none|otherwise|else)\b", re.IGNORECASE)
_SAYS_YES = re.compile(r"\b(?:yes|true|pass(?:ed)?)\b", re.IGNORECASE)
_SAYS_NO = re.compile(r"\b(?:no|false|fail(?:ed)?)\b", re.IGNORECASE)

_PLAIN = re.compile(
    r"(?:(?P<yes>yes|yep|yeah|true|correct)|no|nope|false)(?:\s*(?:$|[,.;:!–—-])"
    r"|\s+(?:it|they|that|there|we|i|the|this)\b)",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|(?:not|un) ?sure|no idea|(?:don|doesn|can)['’]?t (?:know"
    r"|tell|say)|do not know|cannot (?:tell|say)|guess|i think|might|seems?|partly|sometimes|but)\b"
    r"|\?",
    re.IGNORECASE,
)

_COMPARED_YES = frozenset({"true", "y", "ok", "passed", "pass"})
_COMPARED_NO = frozenset({"false", "n", "otherwise", "else", "failed", "fail"})
_COMPARED_NEGATION = re.compile(
    r"\b(?:not|no|never|without|cannot|fail(?:s|ed)?|missing|absent|unhealthy|un\w*able)\b|n't\b",
    re.IGNORECASE,
)
"""The words of a published measure: they are not extended, or its figures would not compare."""


def answer_of(condition: str) -> float:
    """Return 1 for yes, -1 for no, 0 for an answer in other words."""
    if _YES.match(condition.strip()):
        return 1.0
    return -1.0 if _NO.match(condition.strip()) else 0.0


def plain_answer(text: str) -> float:
    """Return 1 for a plain yes, -1 for a plain no, 0 for anything else or in doubt.

    For what a person writes: `No idea`, `Not sure` and `Yes and no` answer nothing.
    """
    if _DOUBTS.search(text) or is_both(text):
        return 0.0
    match = _PLAIN.match(text.strip())
    return 0.0 if match is None else 1.0 if match["yes"] else -1.0


def is_both(condition: str) -> bool:
    """Return True if the text says yes and no at once."""
    return bool(_SAYS_YES.search(condition) and _SAYS_NO.search(condition))


def compared_answer(question: str, label: str) -> bool | str:
    """Return the state that a label asserts of its question, as graphs are compared.

    No to "Is it not ready?" and yes to "Is it ready?" are the same answer. An answer that is
    neither yes nor no is returned in its own words.
    """
    normalised = label.strip().lower().rstrip(".!,:")
    if normalised in _COMPARED_YES or normalised.startswith("yes"):
        holds = True
    elif normalised in _COMPARED_NO or normalised.startswith("no"):
        holds = False
    else:
        return normalised
    return holds ^ (len(_COMPARED_NEGATION.findall(question)) % 2 == 1)
