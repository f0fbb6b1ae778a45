"""Carry-over of procedures to a changed text, if nothing that they rest on has changed."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from services.knowledge.page.block import BlockKind, codes, plain
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.word_lines import word_lines
from services.language.clauses import has_instruction
from services.language.sentences import sentences
from services.runbook.checking.left_out import uncited_conditions
from services.runbook.model import LineRange, Procedure, Reading
from services.runbook.program import extent_lines, lines_of
from services.workflow.page_code import inline_commands

MOST_COMPARED_LINES = 20_000
"""Lines between the first change and the last; over longer changes nothing is carried."""

_INSTRUCTING = frozenset({BlockKind.CODE, BlockKind.TABLE, BlockKind.OTHER})
"""Kinds of blocks in which each line may be an instruction."""
_INSTRUCTING_START = frozenset({BlockKind.ITEM, BlockKind.HEADING, BlockKind.CALLOUT})
"""Kinds of blocks in which only the first line may be an instruction."""

Lines = dict[int, int]
"""New numbers of unchanged lines by their old ones, both from 1."""


def carry_over_procedures(
    procedures: Sequence[Procedure], old: str, new: str
) -> tuple[Procedure | None, ...]:
    """Return each procedure with the lines of the new text, or None if it no longer holds.

    It holds if the lines of all its nodes and guards, and the headings above them, are unchanged,
    and no instruction was put between them.
    """
    before, after = _HeadedText(old), _HeadedText(new)
    new_numbers = _match_lines(before.lines, after.lines)
    return tuple(_carry_over(each, before, after, new_numbers) for each in procedures)


def unchanged_lines(old: str, new: str) -> Lines:
    """Return the new numbers of the lines that both texts have."""
    return _match_lines(old.split("\n"), new.split("\n"))


def with_carried_procedures(
    reading: Reading, moved: Mapping[int, Procedure], new_numbers: Lines
) -> Reading:
    """Return the reading of the new text: the moved procedures by their old index, and no others.

    Its doubts and lines left out come along where their lines are unchanged. It is of no version,
    so that a model reads the changed page again.
    """
    places = {old: new for new, old in enumerate(sorted(moved))}
    doubts = (
        doubt.model_copy(update={"procedure": places[doubt.procedure], "lines": lines})
        for doubt in reading.doubts
        if doubt.procedure in places
        and not any(answer.replace for answer in doubt.answers)
        and (lines := _shift(doubt.lines, new_numbers)) is not None
    )
    left_out = (
        each.model_copy(update={"lines": lines})
        for each in reading.left_out
        if (lines := _shift(each.lines, new_numbers)) is not None
    )
    return reading.model_copy(
        update={
            "version": "",
            "procedures": tuple(moved[old] for old in places),
            "doubts": tuple(doubts),
            "left_out": tuple(left_out),
        }
    )


def _shift(ranges: Iterable[LineRange], new_numbers: Lines) -> tuple[LineRange, ...] | None:
    """Return the new numbers of the ranges; None if a line of them has changed."""
    new = []
    for first, last in ranges:
        numbers = [new_numbers.get(number, 0) for number in range(first, last + 1)]
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or not numbers[0]:
            return None
        new.append((numbers[0], numbers[-1]))
    return tuple(new)


class _HeadedText:
    """A text with the headings above each of its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._page = parse_page(text)

    @cached_property
    def headings(self) -> list[tuple[int, ...]]:
        """Lines of the headings above each line, its own included, indexed from 0."""
        own = {
            place.block.start_line: tuple(h.start_line for h in (*place.headings, place.block))
            for place in self._page.places()
            if place.block.kind is BlockKind.HEADING and not place.parents
        }
        by_line: list[tuple[int, ...]] = []
        above: tuple[int, ...] = ()
        for number in range(1, len(self.lines) + 1):
            above = own.get(number, above)
            by_line.append(above)
        return by_line

    @cached_property
    def code(self) -> set[int]:
        """Lines of code blocks."""
        blocks = (place.block for place in self._page.places())
        code = (block for block in blocks if block.kind is BlockKind.CODE)
        return {n for block in code for n in range(block.start_line, block.end_line + 1)}

    def is_heading(self, number: int) -> bool:
        """Return True if the line is a heading."""
        return self.headings[number - 1][-1:] == (number,)

    @cached_property
    def instructing(self) -> set[int]:
        """Lines that may instruct: an item, code, a warning, an imperative, a command to run."""
        lines: set[int] = set()
        for block in (place.block for place in self._page.places()):
            if block.kind in _INSTRUCTING:
                lines.update(range(block.start_line, block.end_line + 1))
            elif block.kind in _INSTRUCTING_START:
                lines.add(block.start_line)
            for number, words in word_lines(block):
                text = plain(words)
                if any(map(has_instruction, sentences(text))) or inline_commands(
                    text, codes(words)
                ):
                    lines.add(number)
        return {number for number in lines if self.lines[number - 1].strip()}


def _carry_over(
    procedure: Procedure, before: _HeadedText, after: _HeadedText, new_numbers: Lines
) -> Procedure | None:
    used = {number for number in lines_of(procedure) if number <= len(before.lines)}
    if not used or not all(_is_unchanged(number, before, after, new_numbers) for number in used):
        return None
    extent = _extent(procedure, before, after, new_numbers)
    shifted = _renumbered(procedure, new_numbers, extent)
    if shifted is None:
        return None
    new = set(range(extent[0], extent[1] + 1)).difference(new_numbers.values())
    is_interrupted = new & after.instructing or any(
        first in new for first, _ in uncited_conditions([shifted], after.text)
    )
    return None if is_interrupted else shifted


def _is_unchanged(number: int, before: _HeadedText, after: _HeadedText, new_numbers: Lines) -> bool:
    """Return True if the line, the headings above it, and whether it is code are unchanged."""
    if number not in new_numbers or (number in before.code) != (new_numbers[number] in after.code):
        return False
    headings = before.headings[number - 1]
    now = after.headings[new_numbers[number] - 1]
    return tuple(new_numbers.get(heading) for heading in headings) == now


def _extent(
    procedure: Procedure, before: _HeadedText, after: _HeadedText, new_numbers: Lines
) -> LineRange:
    """Return the procedure's range in the new text.

    It ends before the line that followed the procedure in the old text, or before a heading.
    """
    old_lines = extent_lines(procedure) | lines_of(procedure)
    places = [new_numbers[number] for number in old_lines if number in new_numbers]
    following = (
        new_numbers[n] for n in range(max(old_lines) + 1, len(before.lines) + 1) if n in new_numbers
    )
    end = next(following, len(after.lines) + 1) - 1
    last = max(places)
    until = next((n for n in range(last + 1, end + 1) if after.is_heading(n)), 0)
    return min(places), until - 1 if until else max(end, last)


def _renumbered(procedure: Procedure, new_numbers: Lines, extent: LineRange) -> Procedure | None:
    """Return the procedure with the new line numbers; None if a range was torn apart."""
    torn = False

    def ranges(lines: Iterable[LineRange]) -> tuple[LineRange, ...]:
        nonlocal torn
        new_ranges = tuple((new_numbers[first], new_numbers[last]) for first, last in lines)
        torn |= any(
            new[1] - new[0] != old[1] - old[0] for new, old in zip(new_ranges, lines, strict=True)
        )
        return new_ranges

    shifted = procedure.map(
        node=lambda node: (node.model_copy(update={"lines": ranges(node.lines)}),),
        arm=lambda arm: arm.model_copy(update={"lines": ranges(arm.lines)}),
    )
    lines = (extent,) if procedure.lines else ()
    return None if torn else shifted.model_copy(update={"lines": lines})


def _match_lines(old: Sequence[str], new: Sequence[str]) -> Lines:
    start = _common_prefix(old, new)
    end = _common_prefix(old[start:][::-1], new[start:][::-1])
    new_numbers = {number: number for number in range(1, start + 1)}
    shift = len(new) - len(old)
    new_numbers |= {number: number + shift for number in range(len(old) - end + 1, len(old) + 1)}
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(left), len(right)) > MOST_COMPARED_LINES:
        return new_numbers
    for block in SequenceMatcher(None, left, right).get_matching_blocks():
        for at in range(block.size):
            new_numbers[start + block.a + at + 1] = start + block.b + at + 1
    return new_numbers


def _common_prefix(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the number of lines that both begin with."""
    pairs = zip(a, b, strict=False)
    return next((at for at, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))
