"""A proposed page as it is shown: its procedures beside all its lines, and what was edited."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from services.contracts.proposals import ProposalDetail
from services.contracts.readings import ProcedureState, ReadingDetail
from services.gateway.ui.knowledge.readings.views import ShownProcedure, procedure_views
from services.procedure.ports import ReadingState


@dataclass(frozen=True)
class ShownBinding:
    """How the executor would carry a step of the page out."""

    step: str
    tool: str
    sent: str
    is_approved: bool


@dataclass(frozen=True)
class ShownChange:
    """A line that an edit took out or put in."""

    kind: str
    """`added` or `removed`."""
    number: int
    """In the text that has it."""
    line: str


def shown_procedures(detail: ProposalDetail) -> list[ShownProcedure]:
    """Each drawn; where there is one alone, beside the whole page."""
    found = procedure_views(_as_read(detail))
    if len(found) != 1:
        return found
    return [replace(found[0], first_line=1, lines=tuple(detail.text.split("\n")))]


def changes_of(before: str, after: str) -> Iterator[ShownChange]:
    """The lines that differ, in the order of the page."""
    old, new = before.split("\n"), after.split("\n")
    for tag, first, end, start, stop in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            continue
        for number in range(first, end):
            yield ShownChange("removed", number + 1, old[number])
        for number in range(start, stop):
            yield ShownChange("added", number + 1, new[number])


def _as_read(detail: ProposalDetail) -> ReadingDetail:
    procedures = detail.reading.procedures
    return ReadingDetail(
        text_hash=detail.text_hash,
        documents=(detail.document_id,),
        reader=detail.reading.reader,
        state=ReadingState.READ,
        procedures=len(procedures),
        approved=0,
        doubts=len(detail.reading.doubts),
        was_approved=False,
        updated_at=detail.proposed_at,
        revision="",
        reading=detail.reading,
        states=tuple(
            ProcedureState(title=each.title, state=ReadingState.READ) for each in procedures
        ),
        offers=(),
        lines=tuple(detail.text.split("\n")),
    )
