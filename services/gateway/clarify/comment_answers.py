"""Whether a comment answers a question, and how.

A line that begins with `answer:` always does. Without it a comment does where its system was told
of the question, and it is nothing but the number or the words of a choice, or begins with a plain
yes or no and just one choice does.
"""

import re

from services.contracts.clarification import Clarification, ClarificationAnswer
from services.gateway.ticket.question import words

_MARKED = re.compile(r"[\s*_]*answer[\s*_]*:[\s*_]*(?P<said>.*)", re.IGNORECASE)
_NUMBER = re.compile(r"[(#]?\s{0,3}([0-9]{1,2})\s{0,3}[).]?")
_YES_OR_NO = re.compile(r"(?:yes|no)\s{0,3}(?:[,.;:!–—-].*)?", re.IGNORECASE | re.DOTALL)
_UNKNOWN = frozenset({"unknown", "not known", "i don t know", "i do not know", "don t know"})


def answer_in(text: str, asked: Clarification, *, was_told: bool) -> ClarificationAnswer | None:
    """The answer; None where there is none. `was_told`: a system shows the question."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(">")]
    for place, line in enumerate(lines):
        marked = _MARKED.fullmatch(line)
        if marked:
            said = marked["said"].strip() or " ".join(lines[place + 1 :]).strip()
            return _given(said, asked) if said else None
    whole = "\n".join(lines).strip()
    return _given(whole, asked) if was_told and _is_plain(whole, asked) else None


def _given(said: str, asked: Clarification) -> ClarificationAnswer:
    number = _NUMBER.fullmatch(said)
    if number and 1 <= int(number[1]) <= len(asked.choices):
        return ClarificationAnswer(choice=int(number[1]))
    if words(said) in _UNKNOWN:
        return ClarificationAnswer(unknown=True)
    return ClarificationAnswer(text=said)


def _is_plain(said: str, asked: Clarification) -> bool:
    number = _NUMBER.fullmatch(said)
    if number:
        return 1 <= int(number[1]) <= len(asked.choices)
    choices = [words(choice) for choice in asked.choices]
    if said and words(said) in choices:
        return True
    begins = said[:3].casefold().rstrip(" ,.;:!–—-")
    return bool(_YES_OR_NO.fullmatch(said)) and sum(c.split()[:1] == [begins] for c in choices) == 1
