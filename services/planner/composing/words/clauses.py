"""An instruction cut into what is told at once."""

import re

from services.language.sentences import sentences
from services.language.verbs import begins_with_verb

_JOINT = re.compile(
    r"\s*;\s*|\s*,?\s+(?:and\s+)?(?:then|afterwards|after that|finally)\s*,?\s+"
    r"|\s*,\s+(?:and\s+)?|\s+and\s+|\n+",
    re.IGNORECASE,
)
_CERTAIN = re.compile(r";|then|after|finally|\n", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_LEAD = re.compile(r"^(?:please|first|next|then|and|also|finally|now)[\s,]+", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w)")


def clauses(text: str) -> list[str]:
    """What an instruction tells, one deed each, in its order; what is quoted is not cut."""
    found: list[str] = []
    for line in text.splitlines():
        for sentence in sentences(_BULLET.sub("", line)):
            found += _parts(sentence)
    return [each for part in found if (each := _bare(part))]


def _parts(sentence: str) -> list[str]:
    """A joint cuts where what follows tells something of its own."""
    quoted = [found.span() for found in _QUOTED.finditer(sentence)]
    parts, begin = [], 0
    for joint in _JOINT.finditer(sentence):
        if joint.start() < begin or any(a < joint.end() and joint.start() < b for a, b in quoted):
            continue
        rest = _LEAD.sub("", sentence[joint.end() :])
        if begins_with_verb(rest) or (_CERTAIN.search(joint[0]) and rest[:1].isalpha()):
            parts.append(sentence[begin : joint.start()])
            begin = joint.end()
    return [*parts, sentence[begin:]]


def _bare(part: str) -> str:
    said = part.strip(" \t,;.:")
    while (shorter := _LEAD.sub("", said)) != said:
        said = shorter
    return said
