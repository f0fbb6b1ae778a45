"""A reading against its text, whoever wrote it: what cannot be used is refused, told or marked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from services.kit.errors import InvalidInputError
from services.kit.text import clean_text
from services.knowledge.screening.instructions import instruction_in
from services.procedure.checking.with_values import says_with_values
from services.procedure.doubt_answers import without_doubts_about_nothing
from services.procedure.model import (
    Answer,
    Body,
    Choice,
    Do,
    Doubt,
    End,
    Guard,
    Jump,
    LineRange,
    Loop,
    Node,
    Procedure,
    Reader,
    Reading,
    Remark,
    Sourced,
    as_json,
    bodies_of,
    questions,
)
from services.procedure.program.changing import guards_below, is_empty, with_bodies, with_changed
from services.procedure.program.numbering import numbered, sourced

DEEPEST = 24
"""Levels of a program, those of its guards included; a page with so many is nobody's."""
MOST_NODES = 2_000
"""Nodes and guards of a reading; the largest pages of the product's corpus have some 300."""
MOST_PROCEDURES = 200
MOST_DOUBTS = 1_000
LONGEST_TEXT = 4_000
"""Characters of one step, guard or command."""
MOST_REMARKS = 12
"""Of one procedure; later ones mostly follow from the first."""
UNSURE = 0.5
"""Confidence of a node whose lines say nothing of it; below what is shown as sure."""

Place = TypeVar("Place", bound=Sourced)


class UnusableReadingError(InvalidInputError):
    """The reading is too large, or nothing in it is of the text that it is given for."""


@dataclass
class Checked:
    """What is left of a reading."""

    reading: Reading
    remarks: list[str] = field(default_factory=list)
    """What was cut or dropped, in words; empty where the reading is as it was given."""


def reading_given(given: Mapping[str, Any]) -> Reading:
    """A person's reading in the notation.

    Raises:
        UnusableReadingError: It is none.
    """
    if not isinstance(given.get("procedures"), list):
        raise UnusableReadingError(
            "procedures: expected a list; an empty one says that the page has none"
        )
    try:
        return Reading.model_validate({"reader": "person", **given})
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, found["loc"]))
        raise UnusableReadingError(f"{place}: {found['msg']}"[:500]) from error


def checked(reading: Reading, text: str) -> Checked:
    """The reading as its text allows it, all its nodes with ids.

    Line ranges outside the text are cut, and what they leave without lines is marked as unsure. A
    procedure without any line of the text, where there is a text, or with words that speak to a
    language model, is dropped. The check takes time in proportion to the reading and the text.

    Raises:
        UnusableReadingError: Too large, or no procedure is left of those there were.
    """
    refuse_large(reading)
    reading = Reading.model_validate(_cleaned(as_json(reading)))
    check = _Check(text, is_persons=reading.reader is Reader.PERSON)
    kept = {
        place: procedure
        for place, given in enumerate(reading.procedures)
        if (procedure := check.procedure(given)) is not None
    }
    if reading.procedures and not kept:
        raise UnusableReadingError("; ".join(check.remarks[:3]))
    places = {old: new for new, old in enumerate(kept)}
    doubts = tuple(
        check.doubt(doubt, places[doubt.procedure])
        for doubt in reading.doubts
        if doubt.procedure in places
    )
    left = reading.model_copy(update={"procedures": tuple(kept.values()), "doubts": doubts})
    return Checked(without_doubts_about_nothing(numbered(left)), check.remarks)


class _Check:
    """One text while procedures are held against it."""

    def __init__(self, text: str, *, is_persons: bool) -> None:
        """A person may put a placeholder where a command of the text has a value."""
        self._is_persons = is_persons
        self._lines = text.split("\n")
        self._said = _squeezed(text)
        self._wrong: dict[str, None] = {}
        self.remarks: list[str] = []

    def procedure(self, given: Procedure) -> Procedure | None:
        """None when nothing of it can be used, which is told."""
        name = given.title[:80] or "a procedure without a title"
        self._wrong.clear()
        if (reason := _refused(given)) is not None:
            self.remarks.append(f"{name!r} is left out: {reason}")
            return None
        procedure = with_changed(given, self._body).model_copy(update={"lines": self._in(given)})
        if self._said and not any(each.lines for each in sourced(procedure)):
            self.remarks.append(f"{name!r} is left out: none of its lines is in the text")
            return None
        self.remarks += [f"{name!r}: {what}" for what in self._told()]
        return procedure

    def doubt(self, given: Doubt, place: int) -> Doubt:
        """The doubt about the procedure at its new place."""
        answers = tuple(self._answer(answer) for answer in given.answers)
        update = {"procedure": place, "lines": self._in(given), "answers": answers}
        return given.model_copy(update=update)

    def _answer(self, given: Answer) -> Answer:
        if given.replace is None:
            return given
        return given.model_copy(update={"replace": self._body(given.replace)})

    def _body(self, body: Body) -> Body:
        found = (with_bodies(self._sourced(node), self._body, self._sourced) for node in body)
        return tuple(node for node in found if not is_empty(node))

    def _sourced(self, given: Place) -> Place:
        """It with the lines that are in the text; unsure where they or its commands are not."""
        lines = self._in(given)
        commands: tuple[str, ...] = given.commands if isinstance(given, Do | End) else ()
        unknown = [each for each in commands if not self._says(each)]
        self._wrong |= dict.fromkeys(f"the text has no command {each[:200]!r}" for each in unknown)
        if lines == given.lines and not unknown:
            return given
        sure = min(given.confidence, UNSURE) if unknown or not lines else given.confidence
        return given.model_copy(update={"lines": lines, "confidence": sure})

    def _says(self, command: str) -> bool:
        """Whether the text has the command."""
        squeezed = _squeezed(command)
        return squeezed in self._said or (
            self._is_persons and says_with_values(self._said, squeezed)
        )

    def _in(self, given: Procedure | Doubt | Sourced) -> tuple[LineRange, ...]:
        last = len(self._lines)
        for first, end in given.lines:
            if end > last:
                self._wrong[f"lines {first}-{end} are not there: the text has {last}"] = None
        return tuple((first, min(end, last)) for first, end in given.lines if first <= last)

    def _told(self) -> list[str]:
        """What was wrong since this was asked last."""
        told = list(self._wrong)[:MOST_REMARKS]
        self._wrong.clear()
        return told


def refuse_large(reading: Reading) -> None:
    """Without recursion: what is nested without end must not end the process.

    Raises:
        UnusableReadingError: It is too large.
    """
    if len(reading.procedures) > MOST_PROCEDURES or len(reading.doubts) > MOST_DOUBTS:
        raise UnusableReadingError(
            f"expected at most {MOST_PROCEDURES} procedures and {MOST_DOUBTS} doubts"
        )
    todo: list[tuple[Node | Guard, int]] = [(each, 1) for each in _roots(reading)]
    seen = 0
    while todo:
        found, depth = todo.pop()
        seen += 1
        if seen > MOST_NODES or depth > DEEPEST:
            raise UnusableReadingError(
                f"expected at most {MOST_NODES} nodes and guards, {DEEPEST} levels deep"
            )
        todo += [(each, depth + 1) for each in _below(found)]


def _roots(reading: Reading) -> Iterator[Node]:
    for procedure in reading.procedures:
        for body in procedure.bodies.values():
            yield from body
    for doubt in reading.doubts:
        for answer in doubt.answers:
            yield from answer.replace or ()


def _below(found: Node | Guard) -> Iterator[Node | Guard]:
    if not isinstance(found, Do | Choice | Loop | End | Jump | Remark):
        yield from guards_below(found)
        return
    for body in bodies_of(found):
        yield from body
    yield from _guards(found)


def _guards(node: Node) -> Iterator[Guard]:
    if isinstance(node, Loop):
        yield node.until
    elif isinstance(node, Choice):
        yield from (arm.guard for arm in node.arms if arm.guard is not None)


def _refused(procedure: Procedure) -> str | None:
    """Why nothing of the procedure may be used."""
    for text in _texts(procedure):
        if len(text) > LONGEST_TEXT:
            return f"a text in it is longer than {LONGEST_TEXT} characters"
        if (what := instruction_in(text)) is not None:
            return f"it speaks to a language model: {what}"
    if not all(text.strip() for text in _words(procedure)):
        return "a step or a condition in it has no words"
    return None


def _words(procedure: Procedure) -> Iterator[str]:
    """What must say something."""
    for node in procedure.walk():
        if isinstance(node, Do | Remark):
            yield node.text
        for guard in _guards(node):
            yield from (asked.text for asked in questions(guard))


def _texts(procedure: Procedure) -> Iterator[str]:
    yield from (procedure.title, procedure.treats, *procedure.parts)
    yield from _words(procedure)
    for node in procedure.walk():
        if isinstance(node, Do | End):
            yield from node.commands
        if isinstance(node, End):
            yield node.text
        if isinstance(node, Choice):
            yield node.question


def _squeezed(text: str) -> str:
    """Without what a line break, a prompt or a continuation changes of a command."""
    return " ".join(text.replace("\\", " ").split())


def _cleaned(found: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(found, str):
        return clean_text(found)
    if isinstance(found, list):
        return [_cleaned(each) for each in found]
    if isinstance(found, dict):
        return {clean_text(key): _cleaned(each) for key, each in found.items()}
    return found
