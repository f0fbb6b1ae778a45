"""A proposed page against its own text: what cannot be a page is refused before it is kept."""

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
from services.knowledge.screening.document import hash_of, screened
from services.knowledge.screening.instructions import instruction_in
from services.language.deeds import first_stem
from services.language.names import words_of
from services.language.states import negates
from services.language.verbs import begins_with_verb
from services.language.words import stem, tokenise
from services.procedure.carry_over import Lines, carried_over, unchanged_lines
from services.procedure.checking.check import checked
from services.procedure.model import (
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
"""Characters of the name that a page has among documents."""
_TOLD_STEPS = 5
LEAST_TOLD = 0.6
"""Share of the words of a step or question that the lines which it cites must have."""


class UnusableProposalError(InvalidInputError):
    """It cannot become a page; the message says why."""


@dataclass(frozen=True)
class CheckedPage:
    """A text with a reading that is whole and of it."""

    text: str
    reading: Reading

    @property
    def text_hash(self) -> str:
        """As the text's readings are kept by it: nothing of the text is left out."""
        return hash_of(self.text)


def checked_page(page: ProposedPage) -> CheckedPage:
    """What is kept of a page that somebody proposes.

    Raises:
        UnusableProposalError: It instructs whoever reads it, or the reading is not of the text.
    """
    if page.origin is ProposalOrigin.LEARNED and not page.runs:
        raise UnusableProposalError("runs: a learned page names the runs that it was learned from")
    if not "".join(filter(str.isprintable, page.title)).strip():
        raise UnusableProposalError("title: expected words")
    _refuse_instruction(page.title, "its title")
    return _checked(clean_page_text(page.text), page.reading)


def edited_page(before: CheckedPage, text: str) -> CheckedPage:
    """The page with another, clean text: its reading on the lines where the same words stand now.

    Raises:
        UnusableProposalError: Something cannot be found again, which is told, or it instructs
            whoever reads it.
    """
    procedures = before.reading.procedures
    moved = carried_over(procedures, before.text, text)
    lines = unchanged_lines(before.text, text)
    lost = [old for old, new in zip(procedures, moved, strict=True) if new is None]
    if lost:
        told = [said for procedure in lost for said in _lost_of(procedure, lines)]
        raise UnusableProposalError(
            f"the edited text does not say any more: {'; '.join(told[:_TOLD_STEPS])}"
            if told
            else "in the edited text a heading above the steps changed, or a line between them "
            "instructs that the reading does not have"
        )
    doubts = (_moved_doubt(doubt, before.text, text, lines) for doubt in before.reading.doubts)
    update = {
        "procedures": tuple(filter(None, moved)),
        "doubts": tuple(doubt for doubt in doubts if doubt is not None),
    }
    return _checked(text, before.reading.model_copy(update=update))


def clean_page_text(text: str) -> str:
    """The text as a document of it would have it."""
    return READER.read(clean_text(text).encode()).text


def page_document(document_id: str, text: str) -> Document:
    """The document that the page is, as far as its text goes."""
    return Document(
        id=document_id,
        title=document_id,
        text=text,
        content_hash="",
        front_matter=READER.read(text.encode()).front_matter,
    )


def document_name(origin: ProposalOrigin, title: str, short_id: str) -> str:
    """What the page is called among documents, now and later."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_NAME].strip("-") or "page"
    return f"{origin.value}/{slug}-{short_id}.md"


def _checked(text: str, reading: Reading) -> CheckedPage:
    if not text.strip():
        raise UnusableProposalError("text: the page is empty")
    suspicious = screened(page_document("proposed.md", text)).suspicious
    if suspicious:
        raise UnusableProposalError(
            f"it speaks to whoever reads it by machine, so it becomes no page: {suspicious[0]!r}"[
                :400
            ]
        )
    for said in _strings(as_json(reading)):
        _refuse_instruction(said, "its reading")
    found = checked(reading, text)
    if found.remarks:
        raise UnusableProposalError(f"the reading is not of the text: {found.remarks[0]}"[:500])
    if not found.reading.procedures:
        raise UnusableProposalError("the reading has no procedure: there is nothing to vouch for")
    lines = text.split("\n")
    for said, at in (each for procedure in found.reading.procedures for each in _said(procedure)):
        if not _is_told(said, at, lines):
            raise UnusableProposalError(f"no line that it cites tells {said[:200]!r}")
    return CheckedPage(text, found.reading)


def _said(procedure: Procedure) -> Iterator[tuple[str, tuple[LineRange, ...]]]:
    """What its steps, ends and questions say, with the lines that are to tell it."""
    for node in procedure.walk():
        match node:
            case Do():
                yield node.text, node.lines
            case End() if node.text and node.lines:
                yield node.text, node.lines
            case Choice():
                for arm in node.arms:
                    for asked in questions(arm.guard):
                        yield asked.text, (*arm.lines, *node.lines)
            case Loop():
                for asked in questions(node.until):
                    yield asked.text, node.lines
            case _:
                pass


def _is_told(said: str, at: Iterable[LineRange], lines: Sequence[str]) -> bool:
    """Whether the lines have the deed, its negation if it has one, and most of the other words."""
    wanted = set(tokenise(said))
    told = "\n".join("\n".join(lines[first - 1 : last]) for first, last in at)
    is_deed_told = not begins_with_verb(said) or first_stem(said) in map(stem, words_of(told))
    if not is_deed_told or (negates(said) and not negates(told)):
        return False
    return len(wanted & set(tokenise(told))) >= LEAST_TOLD * len(wanted)


def _refuse_instruction(text: str, where: str) -> None:
    if (what := instruction_in(text)) is not None:
        raise UnusableProposalError(
            f"{where} speaks to whoever reads it by machine ({what}), and becomes no page"
        )


def _strings(found: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    todo = [found]
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            todo += each.values()
        elif isinstance(each, list):
            todo += each


def _lost_of(procedure: Procedure, moved: Lines) -> Iterator[str]:
    """What of the procedure stands in lines that are not as they were."""
    for node in procedure.walk():
        for text, lines in _told(node):
            if any(n not in moved for first, last in lines for n in range(first, last + 1)):
                yield text


def _told(node: Node) -> Iterator[tuple[str, tuple[LineRange, ...]]]:
    if isinstance(node, Do | Remark | End):
        yield node.text or "an end of it", node.lines
    elif isinstance(node, Choice):
        yield from [(node.question, node.lines)] if node.question else []
        yield from ((_asked(arm.guard), arm.lines) for arm in node.arms if arm.guard)
    elif isinstance(node, Loop):
        yield _asked(node.until), node.lines


def _asked(guard: Guard) -> str:
    return ", ".join(each.text for each in questions(guard))


def _moved_doubt(doubt: Doubt, old: str, new: str, moved: Lines) -> Doubt | None:
    """The doubt with new lines; None where what it doubts was edited away."""
    answers = [_moved_answer(answer, old, new) for answer in doubt.answers]
    if None in answers or any(number not in moved for line in doubt.lines for number in line):
        return None
    lines = tuple((moved[first], moved[last]) for first, last in doubt.lines)
    return doubt.model_copy(update={"lines": lines, "answers": tuple(answers)})


def _moved_answer(answer: Answer, old: str, new: str) -> Answer | None:
    if not answer.replace:
        return answer
    alone = Procedure.model_validate({"title": answer.text, "steps": answer.replace})
    (carried,) = carried_over([alone], old, new)
    return answer.model_copy(update={"replace": carried.body}) if carried else None
