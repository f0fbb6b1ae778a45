"""Check of a reading against its text: what cannot be used is refused, reported or marked."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from pydantic import ValidationError

from services.kit.errors import InvalidInputError
from services.kit.text import clean_text
from services.knowledge.page.block import Block, BlockKind
from services.knowledge.page.parsing import parse_page
from services.knowledge.screening.instructions import instruction_in
from services.runbook.checking.cited_blocks import cited_blocks, is_forbidden
from services.runbook.checking.doubts import without_dangling_doubts
from services.runbook.model import (
    All,
    Choice,
    Do,
    Doubt,
    End,
    Guard,
    LeftOut,
    LineRange,
    Loop,
    Node,
    Not,
    Noted,
    Outcome,
    Procedure,
    Reader,
    Reading,
    Remark,
    Some,
    Sourced,
    State,
    as_json,
    bodies_of,
    questions,
)
from services.runbook.program import assign_ids, line_numbers
from services.workflow.commands import Gap, split_at_gaps

DEEPEST = 24
"""Levels of a program, those of its guards included; a page with so many is nobody's."""
MOST_NODES = 2_000
"""Nodes and guards of a reading; the largest pages of the product's corpus have some 300."""
MOST_PROCEDURES = 200
MOST_DOUBTS = 1_000
LONGEST_TEXT = 4_000
"""Characters of one step, guard or command."""
MOST_REMARKS = 12
"""The remarks about one procedure; later ones mostly follow from the first."""
UNSURE = 0.5
"""Confidence of a node without a line that says it; nodes so low are shown as doubtful."""

_LONG_SPAN = 15
"""Lines."""
_WORD = re.compile(r"\w")

Place = TypeVar("Place", bound=Sourced)


class UnusableReadingError(InvalidInputError):
    """The reading is too large, or no procedure of it cites the text that it is for."""


@dataclass
class CheckedReading:
    """The usable part of a reading."""

    reading: Reading
    remarks: list[str] = field(default_factory=list)
    """Descriptions of what was cut or dropped; empty if the reading is unchanged."""


def parse_reading(document: Mapping[str, Any]) -> Reading:
    """Parse a person's reading in the notation.

    Raises:
        UnusableReadingError: It is no reading.
    """
    if not isinstance(document.get("procedures"), list):
        raise UnusableReadingError(
            "procedures: expected a list; an empty one says that the page has none"
        )
    try:
        return Reading.model_validate({"reader": "person", **document})
    except ValidationError as error:
        error_detail = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, error_detail["loc"]))
        raise UnusableReadingError(f"{place}: {error_detail['msg']}"[:500]) from error


def check_reading(reading: Reading, text: str) -> CheckedReading:
    """Return the reading as far as its text supports it, all its nodes with ids.

    Line ranges outside the text are cut, and a node that is left without lines is marked as unsure.
    A procedure without any line of the text, where there is a text, or with words that address a
    language model, is dropped. The check takes time in proportion to the reading and the text.

    Raises:
        UnusableReadingError: Too large, or none of its procedures is left.
    """
    refuse_large(reading)
    reading = Reading.model_validate(_clean(as_json(reading)))
    check = _Check(text, is_persons=reading.reader is Reader.PERSON)
    kept = {
        place: procedure
        for place, original in enumerate(reading.procedures)
        if (procedure := check.procedure(original)) is not None
    }
    if reading.procedures and not kept:
        raise UnusableReadingError("; ".join(check.remarks[:3]))
    places = {old: new for new, old in enumerate(kept)}
    doubts = tuple(
        check.doubt(doubt, places[doubt.procedure])
        for doubt in reading.doubts
        if doubt.procedure in places
    )
    left_out = tuple(
        each.model_copy(update={"lines": lines})
        for each in reading.left_out
        if (lines := check.valid_lines(each))
    )
    update = {"procedures": tuple(kept.values()), "doubts": doubts, "left_out": left_out}
    left = reading.model_copy(update=update)
    return CheckedReading(without_dangling_doubts(assign_ids(left)), check.remarks)


class _Check:
    """The check of procedures against one text."""

    def __init__(self, text: str, *, is_persons: bool) -> None:
        """Prepare the check.

        A person (`is_persons`) may put a placeholder where a command of the text has a value.
        """
        self._is_persons = is_persons
        self._lines = text.split("\n")
        self._squeezed_text = _squeeze(text)
        self._problems: dict[str, None] = {}
        self.remarks: list[str] = []

    def procedure(self, original: Procedure) -> Procedure | None:
        """Return the usable part; None, with a remark, if nothing can be used."""
        name = original.title[:80] or "a procedure without a title"
        self._problems.clear()
        if (reason := _refusal_reason(original)) is not None:
            self.remarks.append(f"{name!r} is left out: {reason}")
            return None
        procedure = self._supported(original).model_copy(
            update={"lines": self.valid_lines(original)}
        )
        if self._squeezed_text and not any(each.lines for each in procedure.sourced()):
            self.remarks.append(f"{name!r} is left out: none of its lines is in the text")
            return None
        self.remarks += [f"{name!r}: {what}" for what in list(self._problems)[:MOST_REMARKS]]
        return procedure

    def doubt(self, original: Doubt, place: int) -> Doubt:
        """Return the doubt, moved to the new index of its procedure."""
        answers = tuple(
            answer
            if answer.replace is None
            else answer.model_copy(
                update={"replace": self._supported(Procedure(title="", body=answer.replace)).body}
            )
            for answer in original.answers
        )
        update = {"procedure": place, "lines": self.valid_lines(original), "answers": answers}
        return original.model_copy(update=update)

    def _supported(self, procedure: Procedure) -> Procedure:
        return procedure.map(
            node=lambda node: (self._with_valid_lines(node),),
            arm=self._with_valid_lines,
            order="down",
        )

    def _with_valid_lines(self, original: Place) -> Place:
        """Keep the lines that the text has; unsure if lines or commands are missing."""
        lines = self.valid_lines(original)
        if isinstance(original, Noted) and original.notes:
            notes = tuple(map(self._with_valid_lines, original.notes))
            original = original.model_copy(update={"notes": notes})
        commands: tuple[str, ...] = original.commands if isinstance(original, Do | End) else ()
        text = self._squeezed_text
        unknown = [
            each
            for each in commands
            if (squeezed := _squeeze(each)) not in text
            and not (self._is_persons and has_command_with_values(text, squeezed))
        ]
        self._problems |= dict.fromkeys(
            f"the text has no command {each[:200]!r}" for each in unknown
        )
        is_against = False
        if isinstance(original, Do) and not self._is_persons:
            is_against = is_forbidden(original.text, self._cited(lines))
            if is_against:
                self._problems[f"the page forbids what a step says: {original.text[:200]!r}"] = None
            starts = (self._lines[a - 1 : min(b, a + _LONG_SPAN)] for a, b in lines)
            has_words = any(_WORD.search(line) for some in starts for line in some)
            is_against |= bool(lines and self._squeezed_text) and not has_words
        if lines == original.lines and not unknown and not is_against:
            return original
        is_doubtful = unknown or is_against or not lines
        sure = min(original.confidence, UNSURE) if is_doubtful else original.confidence
        return original.model_copy(update={"lines": lines, "confidence": sure})

    def valid_lines(self, cited: Procedure | Doubt | Sourced | LeftOut) -> tuple[LineRange, ...]:
        """Return the cited lines that the text has."""
        last = len(self._lines)
        for first, end in cited.lines:
            if end > last:
                self._problems[f"lines {first}-{end} are not there: the text has {last}"] = None
        return tuple((first, min(end, last)) for first, end in cited.lines if first <= last)

    def _cited(self, lines: Sequence[LineRange]) -> list[Block]:
        """Return the blocks at short ranges of lines; a long one says little of what is there."""
        short = line_numbers(each for each in lines if each[1] - each[0] < _LONG_SPAN)
        blocks = (self._block_at.get(number) for number in sorted(short))
        return list({block.key: block for block in blocks if block is not None}.values())

    @cached_property
    def _block_at(self) -> dict[int, Block]:
        by_line: dict[int, Block] = {}
        places = parse_page("\n".join(self._lines)).places()
        blocks = [place.block for place in places if place.block.kind is not BlockKind.HEADING]
        for block in cited_blocks(((1, len(self._lines)),), blocks):
            by_line.update(dict.fromkeys(range(block.start_line, block.end_line + 1), block))
        return by_line


def refuse_large(reading: Reading) -> None:
    """Refuse a reading with too many nodes or levels.

    Without recursion, so that endless nesting cannot end the process.

    Raises:
        UnusableReadingError: It is too large.
    """
    if len(reading.procedures) > MOST_PROCEDURES or len(reading.doubts) > MOST_DOUBTS:
        raise UnusableReadingError(
            f"expected at most {MOST_PROCEDURES} procedures and {MOST_DOUBTS} doubts"
        )
    bodies = [body for procedure in reading.procedures for body in procedure.bodies.values()]
    bodies += [answer.replace or () for doubt in reading.doubts for answer in doubt.answers]
    todo: list[tuple[Node | Guard, int]] = [(node, 1) for body in bodies for node in body]
    seen = 0
    while todo:
        item, depth = todo.pop()
        seen += 1
        if seen > MOST_NODES or depth > DEEPEST:
            raise UnusableReadingError(
                f"expected at most {MOST_NODES} nodes and guards, {DEEPEST} levels deep"
            )
        if isinstance(item, All | Some):
            below: list[Node | Guard] = [*item.guards]
        elif isinstance(item, Not):
            below = [item.guard]
        elif isinstance(item, State | Outcome):
            below = []
        else:
            below = [*_guards(item), *(node for body in bodies_of(item) for node in body)]
        todo += [(each, depth + 1) for each in below]


def _guards(node: Node) -> Iterator[Guard]:
    if isinstance(node, Loop):
        yield node.until
    elif isinstance(node, Choice):
        yield from (arm.guard for arm in node.arms if arm.guard is not None)


def _refusal_reason(procedure: Procedure) -> str | None:
    """Return the reason why nothing of the procedure may be used; None if there is none."""
    for text in _texts(procedure):
        if len(text) > LONGEST_TEXT:
            return f"a text in it is longer than {LONGEST_TEXT} characters"
        if (what := instruction_in(text)) is not None:
            return f"it speaks to a language model: {what}"
    if not all(text.strip() for text in _required_texts(procedure)):
        return "a step or a condition in it has no words"
    return None


def _required_texts(procedure: Procedure) -> Iterator[str]:
    """Yield the texts that must not be empty."""
    for node in procedure.walk():
        if isinstance(node, Do | Remark):
            yield node.text
        if isinstance(node, Noted):
            yield from (note.text for note in node.notes)
        for guard in _guards(node):
            yield from (state.text for state in questions(guard))


def _texts(procedure: Procedure) -> Iterator[str]:
    yield from (procedure.title, procedure.treats, *procedure.parts)
    yield from _required_texts(procedure)
    for node in procedure.walk():
        if isinstance(node, Do | End):
            yield from node.commands
        if isinstance(node, End):
            yield node.text
        if isinstance(node, Choice):
            yield node.question


def _squeeze(text: str) -> str:
    """Return a command without the effects of line breaks and continuations."""
    return " ".join(text.replace("\\", " ").split())


def _clean(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {clean_text(key): _clean(each) for key, each in value.items()}
    return value


_GAP = "\x00"
_AROUND = "`*.,;:()\"'"
"""Characters that a text may put around a command and its words."""


def has_command_with_values(text: str, command: str) -> bool:
    """Return True if the text has the command with values for its placeholders.

    Compared word by word. False for a command without placeholders, or of nothing else.
    """
    parts = split_at_gaps(command)
    pattern = "".join(_GAP if isinstance(each, Gap) else each for each in parts)
    pattern_words = [word.strip(_AROUND) for word in pattern.split()]
    if _GAP not in pattern or not any(word.strip(_GAP) for word in pattern_words):
        return False
    words = [word.strip(_AROUND) for word in text.split()]
    return any(
        all(map(_matches, pattern_words, islice(words, at, None)))
        for at in range(len(words) - len(pattern_words) + 1)
        if _matches(pattern_words[0], words[at])
    )


def _matches(pattern: str, word: str) -> bool:
    """Return True if the word matches the pattern, with at least one character for each gap."""
    first, *others = pattern.split(_GAP)
    if not others:
        return pattern == word
    *inner, last = others
    if not word.startswith(first) or not word.endswith(last):
        return False
    at, end = len(first), len(word) - len(last)
    for literal in inner:
        at = word.find(literal, at + 1, end)
        if at < 0:
            return False
        at += len(literal)
    return at < end
