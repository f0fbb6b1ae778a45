"""What people said of readings by rules, as their words on the boxes of a page."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from services.knowledge.page.block import Block, Page
from services.knowledge.page.boxes import candidates, last_own_line
from services.procedure.model import Answer, Do, Doubt, DoubtKind, LineRange, Reading
from services.procedure.ports import Happening
from services.procedure.program.cited_lines import lines_of, numbers

_BETWEEN_EFFECTS = "; "
"""Between the operations of an edit in its history."""
_PROPOSED = "proposed page "
"""Begins the history's words on a reading that came with a page which somebody accepted."""


class PastChange(NamedTuple):
    """A change that a person made to a reading by rules, by an answer or by an edit."""

    who: str
    at: datetime
    what: Happening
    detail: str
    before: Reading | None
    """None where it is not kept any more."""
    after: Reading | None

    @property
    def is_whole_reading(self) -> bool:
        """Whether the person put a reading of their own in the place of what there was."""
        is_given = not self.detail or self.detail.startswith(_PROPOSED)
        return self.what is Happening.REPLACED and is_given


class BoxWord(NamedTuple):
    """A person's word on whether a block is a step."""

    block: Block
    is_step: bool


class Converted(NamedTuple):
    """A change as far as boxes can hold it."""

    words: tuple[BoxWord, ...]
    rest: str
    """Words on what no box can hold: branches, conditions, wording; empty where nothing is left."""


def converted(change: PastChange, page: Page) -> Converted:
    """Return what a change says of the boxes of its page, and the rest in words.

    A line is a box's where exactly one item or paragraph of the page owns the cited lines. Answers
    to doubts about steps say that a line is a step, or none, and so do edits that put one in or
    take one out; a person's whole reading stays what it is.
    """
    if change.is_whole_reading:
        return Converted((), "")
    if change.what is Happening.ANSWERED:
        return _converted_answer(change, page)
    told = list(_steps_put_in_or_out(change.before, change.after))
    words = _words(page, told)
    is_all = len(words) == len(told) == len(change.detail.split(_BETWEEN_EFFECTS))
    return Converted(words, "" if is_all else change.detail)


def is_drawn_by_rules(changes: Iterable[PastChange]) -> bool:
    """Return whether a reading is still one by rules, but for answers and edits."""
    return not any(change.is_whole_reading for change in changes)


def _converted_answer(change: PastChange, page: Page) -> Converted:
    doubt, answer = _answered(change)
    if doubt is None or answer is None:
        return Converted((), "answered a doubt of a reading that is not kept")
    rest = f"{doubt.question} — {answer.text}"
    if doubt.kind is not DoubtKind.STEP or answer.replace:
        return Converted((), rest)
    words = _words(page, [(doubt.lines, answer.replace is None)])
    return Converted(words, "" if words else rest)


def _answered(change: PastChange) -> tuple[Doubt | None, Answer | None]:
    """Return the doubt and the answer that the detail of an answer names."""
    id_, _, place = change.detail.rpartition(": ")
    doubts = change.before.doubts if change.before else ()
    doubt = next((each for each in doubts if each.id == id_), None)
    is_offered = doubt is not None and place.isdigit() and int(place) < len(doubt.answers)
    return doubt, doubt.answers[int(place)] if doubt and is_offered else None


def _steps_put_in_or_out(
    before: Reading | None, after: Reading | None
) -> Iterator[tuple[tuple[LineRange, ...], bool]]:
    """Yield the lines of steps that only one of the two has, and whether it is the later one."""
    if before is None or after is None:
        return
    for one, other, is_step in ((before, after, False), (after, before, True)):
        cited = set[int]().union(*map(lines_of, other.procedures))
        for procedure in one.procedures:
            for node in procedure.walk():
                if isinstance(node, Do) and node.lines and cited.isdisjoint(numbers(node.lines)):
                    yield node.lines, is_step


def _words(page: Page, told: Iterable[tuple[tuple[LineRange, ...], bool]]) -> tuple[BoxWord, ...]:
    owned = ((_owner(page, lines), is_step) for lines, is_step in told)
    return tuple(BoxWord(block, is_step) for block, is_step in owned if block is not None)


def _owner(page: Page, lines: Iterable[LineRange]) -> Block | None:
    """Return the one block that may be a step and owns any of the lines; None of two or none."""
    cited = numbers(lines)
    owners = [
        place.block
        for place in candidates(page)
        if not cited.isdisjoint(range(place.block.start_line, last_own_line(place.block) + 1))
    ]
    return owners[0] if len(owners) == 1 else None
