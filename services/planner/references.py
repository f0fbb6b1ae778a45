"""What a page calls `step 5`, by what that step says: a workflow numbers its steps anew."""

import re
from collections.abc import Mapping
from dataclasses import replace

from services.knowledge.markdown import Block
from services.planner.draft import Ask, Element
from services.planner.sentences import lead, shorten

_STEP = re.compile(r"\bstep\s+(\d{1,2})\b(?!\.\d)", re.IGNORECASE)
_WORDS = 8


def titles_of(block: Block) -> dict[int, str]:
    """The steps of a numbered list in a few words, by their numbers."""
    return {
        item.number: shorten(lead(item.text), words=_WORDS)
        for item in block.items
        if item.number is not None and item.text
    }


def with_titles(element: Element, titles: Mapping[int, str]) -> Element:
    """The element and its branches, each `step N` in them replaced by that step's words."""
    named = replace(element, text=_STEP.sub(lambda found: _title(found, titles), element.text))
    if not isinstance(named, Ask):
        return named
    return replace(
        named,
        yes=tuple(with_titles(each, titles) for each in named.yes),
        no=tuple(with_titles(each, titles) for each in named.no),
    )


def _title(found: re.Match[str], titles: Mapping[int, str]) -> str:
    title = titles.get(int(found[1]))
    return f"“{title}”" if title else found[0]
