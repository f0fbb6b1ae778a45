"""What a page calls `step 5`: a workflow numbers its steps anew."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from services.knowledge.document.markdown import Block
from services.knowledge.document.roles import without_numbering
from services.knowledge.model import Span
from services.planner.article import Part
from services.planner.draft import Ask, Element, GoTo
from services.planner.sentences import lead, shorten

_STEP = re.compile(
    r"\bstep\s+(\d{1,2})\b(?!\.\d|\s+(?:of|in|under|from)\s+(?!th(?:is|ese)\b))", re.IGNORECASE
)
_NAMED = re.compile(r"\w\W+(?!Step)[A-Z]\w+\s+$")
"""Before `step 2`: it is one of a procedure with a name, such as `Recovery step 2`."""
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
    """The steps of a numbered list by their numbers; in a section called a step, none.

    There `step 3` is the section of that name, not the third thing to do in this one.
    """
    return {} if _place(part) is not None else dict(_items(part, block))


def of_lists(parts: Iterable[Part]) -> References:
    """The steps of all numbered lists that go on with each other; of two with one number, none.

    Lists in sections called steps do not count, see `of_list`.
    """
    apart = [part for part in parts if _place(part) is None]
    found = [item for part in apart for block in part.blocks for item in _items(part, block)]
    return _unambiguous(found)


def _items(part: Part, block: Block) -> Iterator[tuple[int, Referred]]:
    for item in block.items:
        if item.number is not None and item.text:
            span = part.lines(item.start_line, item.end_line)
            yield item.number, Referred(shorten(lead(item.text), words=_WORDS), span)


def of_headings(parts: Iterable[Part], near: Part | None = None) -> References:
    """The sections called `Step 3: …` by their numbers; of two with one number, none.

    With `near` only those of its procedure, where it is a step of one of several.
    """
    place = None if near is None else _place(near)
    beside = None if near is None or place is None else near.passage.heading_path[:place]
    found: dict[tuple[str, ...], tuple[int, Referred]] = {}
    for part in parts:
        path = part.passage.heading_path
        numbered = _STEP_HEADING.match(part.heading)
        if numbered and path not in found and beside in {None, path[:-1]}:
            title = shorten(without_numbering(part.heading), words=_WORDS)
            found[path] = int(numbered[1]), Referred(title, part.span)
    return _unambiguous(found.values())


def _place(part: Part) -> int | None:
    """Where in the heading path of the section stands the one called a step."""
    path = part.passage.heading_path
    return next((n for n, heading in enumerate(path) if _STEP_HEADING.match(heading)), None)


def _unambiguous(found: Iterable[tuple[int, Referred]]) -> References:
    known = list(found)
    numbers = [number for number, _ in known]
    return {number: referred for number, referred in known if numbers.count(number) == 1}


def resolved(element: Element, known: References) -> Element:
    """The element and its branches with each `step N` replaced by what that step says."""
    if isinstance(element, GoTo):
        return _aimed(element, known)
    named = replace(element, text=_told(element.text, known))
    if not isinstance(named, Ask):
        return named
    return replace(
        named,
        yes=tuple(resolved(each, known) for each in named.yes),
        no=tuple(resolved(each, known) for each in named.no),
    )


def _aimed(jump: GoTo, known: References) -> GoTo:
    referred = known.get(jump.number)
    if referred is None or jump.target or referred.span in jump.cites:
        return jump
    return replace(jump, text=_told(jump.text, known), target=referred.span)


def _told(text: str, known: References) -> str:
    return _STEP.sub(lambda found: _title(found, known), text)


def _title(found: re.Match[str], known: References) -> str:
    is_elsewhere = _NAMED.search(found.string[: found.start()])
    referred = None if is_elsewhere else known.get(int(found[1]))
    if referred is None or referred.title.casefold() == found[0].casefold():
        return found[0]
    return f"“{referred.title}”"
