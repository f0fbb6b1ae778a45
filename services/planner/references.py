"""What a page calls `step 5`: a workflow numbers its steps anew."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.knowledge.markdown import Block
from services.knowledge.model import Span
from services.knowledge.roles import without_numbering
from services.planner.article import Part
from services.planner.draft import Ask, Element, GoTo
from services.planner.sentences import lead, shorten

_STEP = re.compile(r"\bstep\s+(\d{1,2})\b(?!\.\d)", re.IGNORECASE)
_STEP_HEADING = re.compile(r"^\s*step\s+(\d{1,2})\b(?!\.\d)", re.IGNORECASE)
_WORDS = 8


@dataclass(frozen=True)
class Referred:
    """A step of the page that has a number."""

    title: str
    """What it says, in a few words."""
    span: Span


References = Mapping[int, Referred]


def of_list(part: Part, block: Block) -> References:
    """The steps of a numbered list by their numbers."""
    return {
        item.number: Referred(
            shorten(lead(item.text), words=_WORDS), part.lines(item.start_line, item.end_line)
        )
        for item in block.items
        if item.number is not None and item.text
    }


def of_headings(parts: Sequence[Part]) -> References:
    """The sections called `Step 3: …` by their numbers; of two with one number, none."""
    numbered = [(m[1], part) for part in parts if (m := _STEP_HEADING.match(part.heading))]
    numbers = [number for number, _ in numbered]
    return {
        int(number): Referred(shorten(without_numbering(part.heading), words=_WORDS), part.span)
        for number, part in numbered
        if numbers.count(number) == 1
    }


def resolved(element: Element, known: References) -> Element:
    """The element and its branches with each `step N` replaced by what that step says."""
    if isinstance(element, GoTo):
        return _aimed(element, known)
    named = replace(element, text=_STEP.sub(lambda found: _title(found, known), element.text))
    if not isinstance(named, Ask):
        return named
    return replace(
        named,
        yes=tuple(resolved(each, known) for each in named.yes),
        no=tuple(resolved(each, known) for each in named.no),
    )


def _aimed(jump: GoTo, known: References) -> GoTo:
    referred = known.get(jump.number)
    if referred is None or jump.target:
        return jump
    text = _STEP.sub(lambda found: _title(found, known), jump.text)
    return replace(jump, text=text, target=referred.span)


def _title(found: re.Match[str], known: References) -> str:
    referred = known.get(int(found[1]))
    return f"“{referred.title}”" if referred else found[0]
