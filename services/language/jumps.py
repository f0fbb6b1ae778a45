"""Where a sentence says to go on: at a numbered step, or at a section by its title."""

import re
from dataclasses import dataclass

_GO = (
    r"(?:go|proceed|continue|skip|return|jump|move|advance|start|resume|repeat|restart)"
    r"(?:\s+(?:on|back|ahead|again|over|forward|directly|straight|down|immediately))*"
    r"(?:\s+(?:to|with|at|from|on))?"
)
_MAYBE = re.compile(
    r"\b(?:go|proceed|continue|skip|return|jump|move|advance|start|resume|repeat|restart|see|refer"
    r"|follow|perform|take|apply)\b",
    re.IGNORECASE,
)
_STEP = re.compile(
    rf"^(?P<before>.*?)(?:^|[,;]\s+(?:and\s+)?(?:then\s+)?|\s+(?:and|then)\s+(?:then\s+)?)"
    rf"{_GO}\s+[\"'“]?(?:the\s+)?step\s+(?P<number>\d{{1,2}})\b(?!\.\d)"
    r"\s*(?:\([^()]*\)|:\s+[^,.;:]{1,60}|above|below|again)?[\s.\"'”]*$",
    re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(
    rf"^(?P<before>.*?)(?:^|[,;]\s+(?:and\s+)?(?:then\s+)?|\s+(?:and|then)\s+(?:then\s+)?)"
    rf"(?:{_GO}|see|refer to|follow|perform|take|apply)\s+(?:the\s+)?"
    r"(?:(?:section|steps? in|instructions? in|"
    r"procedure in|next section)[,:]?\s+)?(?:the\s+)?[\"'“*]*(?P<title>[^\"'“”*.;]{3,90}?)[\"'”*]*"
    r"(?:\s+(?:section|above|below|procedure|steps?))*[\s.\"'”]*$",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Leads:
    """Where a sentence leads, and what it tells before."""

    before: str
    number: int = 0
    title: str = ""


def leads(sentence: str) -> Leads | None:
    """Where the sentence says to go on; a title is only what might be one."""
    if not _MAYBE.search(sentence):
        return None
    said = " ".join(sentence.split())
    found = _STEP.match(said)
    if found:
        return Leads(found["before"].strip(" ,;."), number=int(found["number"]))
    found = _SECTION.match(said)
    return Leads(found["before"].strip(" ,;."), title=found["title"].strip()) if found else None
