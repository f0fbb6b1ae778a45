"""The same instruction in other words, by general rules of English.

A rule exchanges words of the same meaning (`check` and `verify`) or a verb and its noun
(`restart the pod`, `carry out a restart of the pod`). Code, paths and option names stay as written.
"""

import random
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class _Rule:
    """Replaces `pattern` by one of `others`, keeping the case of the first letter."""

    pattern: re.Pattern[str]
    others: tuple[str, ...]


_CLAUSE = (
    r"(?:(?<=^)|(?<=[.;:!?] )|(?<=, then )|(?<=\band )|(?<=\bthen )|(?<=\bto )|(?<=\bplease ))"
)
"""Where an English imperative or infinitive stands; elsewhere the word may be a noun."""

_WORD_START, _WORD_END = r"(?<![\w./\\$<{-])", r"(?![\w/\\=>}-]|\.\w)"

_VERBS = (
    ("check that", "verify that", "confirm that", "make sure that"),
    ("check if", "verify if", "see if", "find out if"),
    ("check whether", "verify whether", "find out whether", "determine whether"),
    ("check", "verify", "inspect", "examine"),
    ("ensure", "make sure"),
    ("look at", "inspect", "examine"),
    ("review", "go through", "examine"),
    ("identify", "determine", "find out"),
    ("find", "locate"),
    ("remove", "take out"),
    ("replace", "exchange", "swap out"),
    ("restart", "start again"),
    ("start", "launch"),
    ("stop", "halt"),
    ("run", "execute"),
    ("use", "make use of"),
    ("fix", "repair", "correct"),
    ("increase", "raise"),
    ("decrease", "reduce", "lower"),
    ("create", "make"),
    ("update", "bring up to date"),
    ("upgrade", "bring to a newer version of"),
    ("wait for", "await"),
    ("contact", "get in touch with"),
    ("collect", "gather"),
    ("compare", "contrast"),
    ("set", "configure"),
    ("enable", "switch on", "turn on"),
    ("disable", "switch off", "turn off"),
    ("repeat", "do again"),
    ("try", "attempt"),
    ("investigate", "look into"),
    ("open", "bring up"),
    ("log in to", "sign in to"),
)
"""Imperatives that mean the same; each may stand for any other of its row."""

_NOUNS = (
    ("restart", "a restart"),
    ("reboot", "a reboot"),
    ("inspect", "an inspection"),
    ("check", "a check"),
    ("review", "a review"),
    ("replace", "a replacement"),
    ("upgrade", "an upgrade"),
    ("remove", "a removal"),
    ("verify", "a verification"),
    ("examine", "an examination"),
    ("delete", "a deletion"),
    ("reset", "a reset"),
    ("analyze", "an analysis"),
)
"""Verbs with the noun of their action."""

_PHRASES = (
    ("in order to", "so as to"),
    ("because of", "due to", "owing to"),
    ("prior to", "before"),
    ("an issue", "a problem"),
    ("the issue", "the problem"),
    ("multiple", "several"),
    ("additional", "further"),
    ("occurs", "happens"),
    ("incorrect", "wrong"),
    ("appropriate", "suitable"),
    ("required", "needed"),
    ("currently", "at present"),
    ("again", "once more"),
    ("whether", "if"),
    ("is not", "isn't"),
    ("are not", "aren't"),
    ("does not", "doesn't"),
    ("do not", "don't"),
    ("and then", "and after that"),
)
"""Words that mean the same wherever they stand."""


def _exchange(row: tuple[str, ...], where: str) -> list[_Rule]:
    return [
        _Rule(
            re.compile(f"{where}{_WORD_START}{re.escape(word)}{_WORD_END}", re.IGNORECASE),
            tuple(other for other in row if other != word),
        )
        for word in row
    ]


def _nominal(verb: str, noun: str) -> list[_Rule]:
    determined = (
        r"(?= (?:the|a|an|all|any|your|each|every|these|those)\b)"
        r"(?![^.;:,]*\b(?:is|are|was|were|has|have|can|does)\b)"
    )
    active = re.compile(rf"{_CLAUSE}{_WORD_START}{verb}{_WORD_END}{determined}", re.IGNORECASE)
    nominal = re.compile(rf"{_CLAUSE}(?:carry out|perform|do) {noun} of{determined}", re.IGNORECASE)
    return [
        _Rule(active, (f"carry out {noun} of", f"perform {noun} of")),
        _Rule(nominal, (verb,)),
    ]


_RULES = (
    *(rule for verb, noun in _NOUNS for rule in _nominal(verb, noun)),
    *(rule for row in _VERBS for rule in _exchange(row, _CLAUSE)),
    *(rule for row in _PHRASES for rule in _exchange(row, "")),
)
_CODE = re.compile(r"(`[^`]*`)")
_STATEMENT_FRAMES = ("Next, {}", "At this point: {}", "Now do this: {}")
_QUESTION_FRAMES = ("To be decided: {}", "Next, {}", "The question is: {}")
"""For a text that no rule applies to: words around it that add nothing."""


def reword(text: str, rng: random.Random) -> str:
    """`text` in other words with the same meaning; never the same text, unless it is blank."""
    if not text.strip():
        return text
    reworded = "".join(
        part if part.startswith("`") else _apply(part, rng) for part in _CODE.split(text)
    )
    if reworded != text:
        return reworded
    frames = _QUESTION_FRAMES if text.rstrip().endswith("?") else _STATEMENT_FRAMES
    return rng.choice(frames).replace("{}", text)


def _apply(prose: str, rng: random.Random) -> str:
    """Every rule once at most, and no rule on words that an earlier one brought in."""
    spans: list[tuple[int, int, str]] = []
    for rule in _RULES:
        match = rule.pattern.search(prose)
        if match and not any(
            start < match.end() and match.start() < end for start, end, _ in spans
        ):
            spans.append((*match.span(), _like(match.group(), rng.choice(rule.others))))
    for start, end, other in sorted(spans, reverse=True):
        prose = prose[:start] + other + prose[end:]
    return prose


def _like(model: str, word: str) -> str:
    return word[0].upper() + word[1:] if model[:1].isupper() else word
