"""Where on a page a jump may lead: its numbered steps and its sections."""

import re
from collections.abc import Iterator

from services.knowledge.document.markdown import Block, BlockKind, MarkdownPage
from services.knowledge.document.roles import without_numbering
from services.language.names import words_of
from services.procedure.model import LineRange

_STEP_HEADING = re.compile(r"^(?:step\s+)?(\d{1,2})(?:[.:)]|\s|$)", re.IGNORECASE)


class Places:
    """Numbered steps and titles of a page with the lines that they stand for."""

    def __init__(self, page: MarkdownPage) -> None:
        self._lists = [each for each in _blocks(page) if each.ordered]
        self._titles: dict[tuple[str, ...], LineRange] = {}
        self._steps: dict[int, LineRange] = {}
        for section in page.sections[1:]:
            here = (section.start_line, section.end_line)
            self._titles.setdefault(_key(section.title), here)
            self._titles.setdefault(words_of(section.title), here)
            numbered = _STEP_HEADING.match(section.title)
            if numbered:
                self._steps.setdefault(int(numbered[1]), here)

    def step(self, number: int, line: int) -> LineRange | None:
        """The step of this number in the innermost list around the line that has one."""
        around = [each for each in self._lists if each.start_line <= line <= each.end_line]
        for block in reversed(around):
            for item in block.items:
                if item.number == number:
                    return item.start_line, item.end_line
        return self._steps.get(number)

    def section(self, title: str, line: int) -> LineRange | None:
        """The section of this title, unless the line stands in it."""
        found = self._titles.get(_key(title))
        if found is None or found[0] <= line <= found[1] or not _key(title):
            return None
        return found


def _key(title: str) -> tuple[str, ...]:
    return words_of(without_numbering(title))


def _blocks(page: MarkdownPage) -> Iterator[Block]:
    for section in page.sections:
        for block in section.blocks:
            if block.kind in {BlockKind.LIST, BlockKind.QUOTE}:
                yield from (each for each in block.walk() if each.kind is BlockKind.LIST)
