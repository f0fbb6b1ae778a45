"""Procedures of a text that has changed: carried over where all that they rest on has not."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from services.knowledge.page.block import BlockKind, Words, codes, plain
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.word_lines import word_lines
from services.language.clauses import tells
from services.language.sentences import sentences
from services.procedure.checking.left_out import untold
from services.procedure.model import Arm, Body, LineRange, Node, Procedure
from services.procedure.program.changing import with_bodies, with_changed
from services.procedure.program.cited_lines import lines_of, where
from services.workflow.page_code import inline_commands

MOST_COMPARED = 20_000
"""Lines between the first change and the last; of longer changes nothing is carried over."""

_INSTRUCTING = frozenset({BlockKind.CODE, BlockKind.TABLE, BlockKind.OTHER})
"""Kinds of blocks of which each line may tell somebody to do something."""
_BEGINNING = frozenset({BlockKind.ITEM, BlockKind.HEADING, BlockKind.CALLOUT})
"""Kinds of blocks of which the first line may."""

Lines = dict[int, int]
"""New numbers of unchanged lines by their old ones, both from 1."""


def carried_over(
    procedures: Sequence[Procedure], old: str, new: str
) -> tuple[Procedure | None, ...]:
    """Each procedure with the lines of the new text, or None where it no longer holds.

    It holds while the lines of all its nodes and guards, and the headings above them, are as they
    were, and nothing that instructs was put between them.
    """
    before, after = _HeadedText(old), _HeadedText(new)
    moved = _moved(before.lines, after.lines)
    return tuple(_carried(each, before, after, moved) for each in procedures)


def unchanged_lines(old: str, new: str) -> Lines:
    """Where the lines that both texts have stand in the new one."""
    return _moved(old.split("\n"), new.split("\n"))


class _HeadedText:
    """A text with the headings over each of its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._page = parse_page(text)

    @cached_property
    def headings(self) -> list[tuple[int, ...]]:
        """By line, from 0: numbers of the headings that it stands under, its own included."""
        own = {
            place.block.start_line: tuple(h.start_line for h in (*place.headings, place.block))
            for place in self._page.places()
            if place.block.kind is BlockKind.HEADING and not place.parents
        }
        found: list[tuple[int, ...]] = []
        above: tuple[int, ...] = ()
        for number in range(1, len(self.lines) + 1):
            above = own.get(number, above)
            found.append(above)
        return found

    @cached_property
    def code(self) -> set[int]:
        """Lines of code blocks."""
        blocks = (place.block for place in self._page.places())
        code = (block for block in blocks if block.kind is BlockKind.CODE)
        return {n for block in code for n in range(block.start_line, block.end_line + 1)}

    def is_heading(self, number: int) -> bool:
        """Whether the line is one."""
        return self.headings[number - 1][-1:] == (number,)

    @cached_property
    def instructing(self) -> set[int]:
        """Lines that may tell somebody to do something: an item, code, a warning, an imperative."""
        found: set[int] = set()
        for block in (place.block for place in self._page.places()):
            if block.kind in _INSTRUCTING:
                found.update(range(block.start_line, block.end_line + 1))
            elif block.kind in _BEGINNING:
                found.add(block.start_line)
            found |= {n for n, words in word_lines(block) if _may_instruct(words)}
        return {number for number in found if self.lines[number - 1].strip()}


def _may_instruct(words: Words) -> bool:
    """Whether words tell to do something, or name a command to run."""
    text = plain(words)
    return any(map(tells, sentences(text))) or bool(inline_commands(text, codes(words)))


def _carried(
    procedure: Procedure, before: _HeadedText, after: _HeadedText, moved: Lines
) -> Procedure | None:
    used = {number for number in lines_of(procedure) if number <= len(before.lines)}
    if not used or not all(_is_same(number, before, after, moved) for number in used):
        return None
    extent = _extent(procedure, before, after, moved)
    shifted = _shifted(procedure, moved, extent)
    if shifted is None or _is_interrupted(shifted, extent, after, set(moved.values())):
        return None
    return shifted


def _is_same(number: int, before: _HeadedText, after: _HeadedText, moved: Lines) -> bool:
    """Whether the line is unchanged, and so are the headings that it stands under; code is code."""
    if number not in moved or (number in before.code) != (moved[number] in after.code):
        return False
    headings = before.headings[number - 1]
    now = after.headings[moved[number] - 1]
    return tuple(moved.get(heading) for heading in headings) == now


def _extent(
    procedure: Procedure, before: _HeadedText, after: _HeadedText, moved: Lines
) -> LineRange:
    """Where the new text tells it: to its last line, then on to what followed it, or a heading."""
    told = where(procedure) | lines_of(procedure)
    places = [moved[number] for number in told if number in moved]
    following = (moved[n] for n in range(max(told) + 1, len(before.lines) + 1) if n in moved)
    end = next(following, len(after.lines) + 1) - 1
    last = max(places)
    until = next((n for n in range(last + 1, end + 1) if after.is_heading(n)), 0)
    return min(places), until - 1 if until else max(end, last)


def _is_interrupted(
    shifted: Procedure, extent: LineRange, after: _HeadedText, known: set[int]
) -> bool:
    """Whether a new line in its extent instructs, or states a condition."""
    new = {number for number in range(extent[0], extent[1] + 1) if number not in known}
    if new & after.instructing:
        return True
    return any(first in new for first, _ in untold([shifted], after.text))


def _shifted(procedure: Procedure, moved: Lines, extent: LineRange) -> Procedure | None:
    """The procedure with new numbers; None where a range was torn apart."""
    torn = False

    def ranges(lines: Iterable[LineRange]) -> tuple[LineRange, ...]:
        nonlocal torn
        found = tuple((moved[first], moved[last]) for first, last in lines)
        torn |= any(
            new[1] - new[0] != old[1] - old[0] for new, old in zip(found, lines, strict=True)
        )
        return found

    def placed(body: Body) -> Body:
        return tuple(node_of(node) for node in body)

    def node_of(node: Node) -> Node:
        own = node.model_copy(update={"lines": ranges(node.lines)})
        return with_bodies(own, placed, arm_of)

    def arm_of(arm: Arm) -> Arm:
        return arm.model_copy(update={"lines": ranges(arm.lines)})

    shifted = with_changed(procedure, placed)
    lines = (extent,) if procedure.lines else ()
    return None if torn else shifted.model_copy(update={"lines": lines})


def _moved(old: Sequence[str], new: Sequence[str]) -> Lines:
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    moved = {number: number for number in range(1, start + 1)}
    shift = len(new) - len(old)
    moved |= {number: number + shift for number in range(len(old) - end + 1, len(old) + 1)}
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(left), len(right)) > MOST_COMPARED:
        return moved
    for block in SequenceMatcher(None, left, right).get_matching_blocks():
        for at in range(block.size):
            moved[start + block.a + at + 1] = start + block.b + at + 1
    return moved


def _shared(a: Sequence[str], b: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = zip(a, b, strict=False)
    return next((at for at, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))
