"""Checks of a proposed page against its own text: an unusable page is refused before it is kept."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from services.contracts.proposals import ProposalOrigin, ProposedPage
from services.ingestion.converters.markdown import READER
from services.kit.errors import InvalidInputError
from services.kit.text import clean_text
from services.knowledge.model import Document
from services.knowledge.screening.document import ScreenedDocument, hash_of
from services.knowledge.screening.instructions import instruction_in
from services.language.deeds import first_stem
from services.language.names import words_of
from services.language.states import negates
from services.language.verbs import begins_with_verb
from services.language.words import stem, tokenise
from services.runbook.carry_over import Lines, carry_over_procedures, unchanged_lines
from services.runbook.checking.check import check_reading
from services.runbook.model import (
    Answer,
    Choice,
    Do,
    Doubt,
    End,
    Guard,
    LineRange,
    Loop,
    Node,
    Procedure,
    Reading,
    Remark,
    as_json,
    questions,
)

_LONGEST_NAME = 60
"""Most characters of the name that a page has among documents."""
_LISTED_STEPS = 5
LEAST_OVERLAP = 0.6
"""Share of the words of a step or question that the lines which it cites must have."""


class UnusableProposalError(InvalidInputError):
    """The proposal cannot become a page; the message says why."""


@dataclass(frozen=True)
class CheckedPage:
    """Text with a valid reading of it."""

    text: str
    reading: Reading

    @property
    def text_hash(self) -> str:
        """Hash by which the readings of the text are kept: nothing of the text is left out."""
        return hash_of(self.text)


def check_page(page: ProposedPage) -> CheckedPage:
    """Check a proposed page; return what is kept of it.

    Raises:
        UnusableProposalError: It instructs whoever reads it, or the reading is not of the text.
    """
    if page.origin is ProposalOrigin.LEARNED and not page.runs:
        raise UnusableProposalError("runs: a learned page names the runs that it was learned from")
    if not "".join(filter(str.isprintable, page.title)).strip():
        raise UnusableProposalError("title: expected words")
    _refuse_instruction(page.title, "its title")
    return _check(clean_page_text(page.text), page.reading)


def apply_edit(before: CheckedPage, text: str) -> CheckedPage:
    """Return the page with another, clean text, its reading moved to the same words' lines.

    Raises:
        UnusableProposalError: Something cannot be found again, as the message says, or the page
            instructs whoever reads it.
    """
    procedures = before.reading.procedures
    moved = carry_over_procedures(procedures, before.text, text)
    lines = unchanged_lines(before.text, text)
    lost = [old for old, new in zip(procedures, moved, strict=True) if new is None]
    if lost:
        missing = [
            statement
            for procedure in lost
            for node in procedure.walk()
            for statement, at in _texts_with_lines(node)
            if any(n not in lines for first, last in at for n in range(first, last + 1))
        ]
        raise UnusableProposalError(
            f"the edited text does not say any more: {'; '.join(missing[:_LISTED_STEPS])}"
            if missing
            else "in the edited text a heading above the steps changed, or a line between them "
            "instructs that the reading does not have"
        )
    doubts = (_moved_doubt(doubt, before.text, text, lines) for doubt in before.reading.doubts)
    update = {
        "procedures": tuple(filter(None, moved)),
        "doubts": tuple(doubt for doubt in doubts if doubt is not None),
    }
    return _check(text, before.reading.model_copy(update=update))


def clean_page_text(text: str) -> str:
    """Return the text as a document made of it would have it."""
    return READER.read(clean_text(text).encode()).text


def document_name(origin: ProposalOrigin, title: str, short_id: str) -> str:
    """Return the id that the page has among documents, now and later."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_NAME].strip("-") or "page"
    return f"{origin.value}/{slug}-{short_id}.md"


def _check(text: str, reading: Reading) -> CheckedPage:
    if not text.strip():
        raise UnusableProposalError("text: the page is empty")
    document = Document(
        id="proposed.md",
        title="proposed.md",
        text=text,
        content_hash="",
        front_matter=READER.read(text.encode()).front_matter,
    )
    suspicious = ScreenedDocument(document).suspicious
    if suspicious:
        raise UnusableProposalError(
            f"it speaks to whoever reads it by machine, so it becomes no page: {suspicious[0]!r}"[
                :400
            ]
        )
    for statement in _strings(as_json(reading)):
        _refuse_instruction(statement, "its reading")
    outcome = check_reading(reading, text)
    if outcome.remarks:
        raise UnusableProposalError(f"the reading is not of the text: {outcome.remarks[0]}"[:500])
    if not outcome.reading.procedures:
        raise UnusableProposalError("the reading has no procedure: there is nothing to vouch for")
    lines = text.split("\n")
    for statement, at in (
        each for procedure in outcome.reading.procedures for each in _statements(procedure)
    ):
        if not _is_supported(statement, at, lines):
            raise UnusableProposalError(f"no line that it cites tells {statement[:200]!r}")
    return CheckedPage(text, outcome.reading)


def _statements(procedure: Procedure) -> Iterator[tuple[str, tuple[LineRange, ...]]]:
    """Yield the texts of steps, ends and questions with the lines that must support them."""
    for node in procedure.walk():
        match node:
            case Do():
                yield node.text, node.lines
            case End() if node.text and node.lines:
                yield node.text, node.lines
            case Choice():
                for arm in node.arms:
                    for question in questions(arm.guard):
                        yield question.text, (*arm.lines, *node.lines)
            case Loop():
                for question in questions(node.until):
                    yield question.text, node.lines
            case _:
                pass


def _is_supported(statement: str, at: Iterable[LineRange], lines: Sequence[str]) -> bool:
    """Return True if the lines have the action, its negation if any, and most other words."""
    wanted = set(tokenise(statement))
    cited = "\n".join("\n".join(lines[first - 1 : last]) for first, last in at)
    is_action_cited = not begins_with_verb(statement) or first_stem(statement) in map(
        stem, words_of(cited)
    )
    if not is_action_cited or (negates(statement) and not negates(cited)):
        return False
    return len(wanted & set(tokenise(cited))) >= LEAST_OVERLAP * len(wanted)


def _refuse_instruction(text: str, where: str) -> None:
    if (what := instruction_in(text)) is not None:
        raise UnusableProposalError(
            f"{where} speaks to whoever reads it by machine ({what}), and becomes no page"
        )


def _strings(tree: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    todo = [tree]
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            todo += each.values()
        elif isinstance(each, list):
            todo += each


def _texts_with_lines(node: Node) -> Iterator[tuple[str, tuple[LineRange, ...]]]:
    """Yield the texts of a node, each with its lines."""
    if isinstance(node, Do | Remark | End):
        yield node.text or "an end of it", node.lines
    elif isinstance(node, Choice):
        yield from [(node.question, node.lines)] if node.question else []
        yield from ((_question_text(arm.guard), arm.lines) for arm in node.arms if arm.guard)
    elif isinstance(node, Loop):
        yield _question_text(node.until), node.lines


def _question_text(guard: Guard) -> str:
    return ", ".join(each.text for each in questions(guard))


def _moved_doubt(doubt: Doubt, old: str, new: str, moved: Lines) -> Doubt | None:
    """Return the doubt with new lines, or None if what it doubts was edited away."""
    if any(number not in moved for line in doubt.lines for number in line):
        return None
    answers: list[Answer] = []
    for answer in doubt.answers:
        if not answer.replace:
            answers.append(answer)
            continue
        alone = Procedure.model_validate({"title": answer.text, "steps": answer.replace})
        (carried,) = carry_over_procedures([alone], old, new)
        if carried is None:
            return None
        answers.append(answer.model_copy(update={"replace": carried.body}))
    lines = tuple((moved[first], moved[last]) for first, last in doubt.lines)
    return doubt.model_copy(update={"lines": lines, "answers": tuple(answers)})
