"""Work of engineers on the blocks of one page, from the tickets that they worked on with it."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Text, cast, select
from sqlalchemy.orm import Session

from services.contracts.adoption import StepState
from services.kit.batches import batches
from services.kit.teaching.ledger import Teachers, load_teachers, ticket_subject
from services.tickets.adoption.carry_over import StepFeedback, StepSnapshot
from services.tickets.adoption.linked_pages import feedback_from_linked_row
from services.tickets.adoption.step_feedback import feedback_from_row, stored_workflow
from services.tickets.adoption.usage import done_of
from services.tickets.parameters import TicketValues
from services.tickets.suggestions.page_blocks import PageBlocks
from services.tickets.tables import (
    AdoptionRow,
    EventRow,
    LinkedMarkRow,
    MarkRow,
    TicketRow,
    WorkflowRow,
)
from services.workflow.commands import placeholders
from services.workflow.model import Step, StepKind, Workflow
from services.workflow.path import left_aside

MOST_WORKFLOWS = 500
"""Most workflows whose work is read for one page: those worked with last."""
_UNUSED = frozenset({StepState.SKIPPED, StepState.NOT_APPLICABLE})
_REMOVED = "taken out of the workflow"


@dataclass(frozen=True)
class BlockMark:
    """Mark of one step on one ticket, at the block that the step comes from."""

    ticket_id: str
    block: str
    text: str
    """Text of the step, which tells steps of one block apart."""
    state: StepState
    by: str
    at: float
    """Time since which the step has been in this state."""
    why: str = ""
    teacher: str = ""
    """Person or source that it counts for; empty if it does not count."""
    is_called_for: bool = True
    """False if only branches that were not followed lead to the step, or if it has a
    placeholder that the ticket had no value for.
    """


class WrittenText(NamedTuple):
    """A step or note that an engineer wrote at a block."""

    ticket_id: str
    block: str
    text: str
    by: str
    at: float
    teacher: str
    """Person or source that it counts for; empty if it does not count."""


@dataclass
class PageWork:
    """Work on a page by all tickets."""

    marks: dict[tuple[str, str, str], BlockMark] = field(default_factory=dict)
    """Latest mark by ticket, block and text of the step."""
    steps: list[WrittenText] = field(default_factory=list)
    notes: list[WrittenText] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    """Titles of the tickets, by id."""
    values: dict[str, TicketValues] = field(default_factory=dict)
    """Values of each ticket, which other tickets do not have, by id."""
    teachers: Teachers = field(default_factory=Teachers)
    """Teachers of the tickets."""

    def teacher_of(self, ticket_id: str, name: str) -> str:
        """Return whose teaching work on a ticket is; empty if it does not count."""
        return self.teachers.of(ticket_subject(ticket_id), name)

    def put(self, mark: BlockMark) -> None:
        """Add a mark that counts, unless its step has a later one from another walk."""
        place = mark.ticket_id, mark.block, mark.text
        if not mark.teacher:
            return
        if place not in self.marks or self.marks[place].at <= mark.at:
            self.marks[place] = mark


class _WorkedCandidate(NamedTuple):
    """A workflow that was worked with; versions have its id in `candidate_id`."""

    id: str
    ticket_id: str
    created_at: float


def load_page_work(session: Session, page: PageBlocks) -> PageWork:
    """Load the work on a page: on its checklist, on workflows of its reading, and beside others."""
    work = PageWork()
    quoted = json.dumps(page.document_id)
    rows = session.execute(
        select(WorkflowRow.id, WorkflowRow.ticket_id, WorkflowRow.created_at)
        .join(AdoptionRow, AdoptionRow.candidate_id == WorkflowRow.id)
        .join(TicketRow, TicketRow.id == WorkflowRow.ticket_id)
        .where(cast(AdoptionRow.documents, Text).contains(quoted, autoescape=True))
        .order_by(AdoptionRow.worked_at.desc())
        .limit(MOST_WORKFLOWS)
    ).tuples()
    candidates = [_WorkedCandidate(*row) for row in rows]
    linked = session.scalars(
        select(LinkedMarkRow)
        .join(TicketRow, TicketRow.id == LinkedMarkRow.ticket_id)
        .where(LinkedMarkRow.document_id == page.document_id)
        .order_by(LinkedMarkRow.marked_at.desc())
        .limit(MOST_WORKFLOWS)
    ).all()
    ticket_ids = {each.ticket_id for each in candidates} | {each.ticket_id for each in linked}
    work.teachers = load_teachers(session, [ticket_subject(id_) for id_ in ticket_ids])
    for some in batches(sorted(ticket_ids)):
        for ticket in session.scalars(select(TicketRow).where(TicketRow.id.in_(some))):
            work.titles[ticket.id] = ticket.title
            work.values[ticket.id] = TicketValues.of(ticket, page.words_of_page)
    for candidate in candidates:
        _add_workflow(session, work, page, candidate)
    for row in linked:
        feedback = feedback_from_linked_row(row)
        _add_mark(work, page, row.ticket_id, feedback, at=row.marked_at or 0.0)
    return work


def _add_workflow(
    session: Session, work: PageWork, page: PageBlocks, candidate: _WorkedCandidate
) -> None:
    """Add the marks on a candidate, and what its latest version adds and removes."""
    marks = session.scalars(select(MarkRow).where(MarkRow.candidate_id == candidate.id))
    feedback = [feedback_from_row(session, row) for row in marks]
    versions = session.scalars(
        select(WorkflowRow)
        .where(WorkflowRow.candidate_id == candidate.id)
        .order_by(WorkflowRow.version)
    ).all()
    base, aside = None, frozenset[str]()
    is_unread = all(each.snapshot.is_box for each in feedback if each.work.state in _UNUSED)
    if versions or not is_unread:
        base = stored_workflow(session, candidate.id)
        aside = left_aside(base, done_of(base, [each.work for each in feedback]))
    since = _state_times(session, candidate)
    for each in feedback:
        at = since.get((each.work.step, each.work.state.value))
        marked_at = each.work.marked_at.timestamp() if each.work.marked_at else 0.0
        is_aside = each.work.step in aside
        _add_mark(work, page, candidate.ticket_id, each, at=at or marked_at, is_aside=is_aside)
    if base is not None and versions:
        unused = {each.work.step for each in feedback if each.work.state in _UNUSED}
        _add_versions(work, page, base, versions, unused)


def _state_times(session: Session, candidate: _WorkedCandidate) -> dict[tuple[str, str], float]:
    """Return the time since which each step has been in its state, by step id and state.

    A mark's own time is that of its last change, be it only of a note. Events of before the
    candidate are left out: they are about steps of an earlier one.
    """
    events = session.execute(
        select(EventRow.facts, EventRow.at)
        .where(EventRow.ticket_id == candidate.ticket_id, EventRow.kind == "marked")
        .where(EventRow.at >= candidate.created_at)
        .order_by(EventRow.id)
    ).tuples()
    latest: dict[str, tuple[str, float]] = {}
    for facts, at in events:
        step, state = str(facts["step"]), str(facts["mark"])
        if latest.get(step, ("", 0.0))[0] != state:
            latest[step] = state, at
    return {(step, state): at for step, (state, at) in latest.items()}


def _add_mark(
    work: PageWork,
    page: PageBlocks,
    ticket_id: str,
    feedback: StepFeedback,
    *,
    at: float,
    is_aside: bool = False,
) -> None:
    """Add a mark and its note, if its step comes from a block that the page still has."""
    step_work, snapshot = feedback.work, feedback.snapshot
    block = _block_of(page, snapshot)
    if block is None or step_work.marked_at is None:
        return
    has_gap = any(map(placeholders, (snapshot.text, *snapshot.commands)))
    work.put(
        BlockMark(
            ticket_id,
            block,
            snapshot.text,
            step_work.state,
            step_work.marked_by,
            at,
            step_work.why,
            work.teacher_of(ticket_id, step_work.marked_by),
            is_called_for=not is_aside and not has_gap,
        )
    )
    seen_by = step_work.seen_by
    teacher = work.teacher_of(ticket_id, seen_by)
    if (
        teacher
        and step_work.seen
        and step_work.state is not StepState.NOT_APPLICABLE
        and not is_aside
    ):
        written_at = step_work.marked_at.timestamp()
        work.notes.append(
            WrittenText(ticket_id, block, step_work.seen, seen_by, written_at, teacher)
        )


def _block_of(page: PageBlocks, snapshot: StepSnapshot) -> str | None:
    if snapshot.document != page.document_id:
        return None
    if snapshot.is_box:
        return snapshot.node if snapshot.node in page.places else None
    return page.find(snapshot.text, snapshot.commands, snapshot.lines)


def _add_versions(
    work: PageWork,
    page: PageBlocks,
    base: Workflow,
    rows: Sequence[WorkflowRow],
    unused: Collection[str],
) -> None:
    """Add the steps and notes that the latest version adds to its candidate, and what it lacks.

    A step counts for the first version that has it, unless it is `unused`.
    """
    versions = [(Workflow.model_validate_json(row.body), row) for row in rows]
    now, latest = versions[-1]
    ticket_id = latest.ticket_id
    teacher = work.teacher_of(ticket_id, latest.author)
    for step in now.steps:
        before, anchor = base.by_id.get(step.id), _anchor(page, now, step)
        if anchor is None:
            continue
        if before is not None:
            work.notes += [
                WrittenText(ticket_id, anchor, note, latest.author, latest.created_at, teacher)
                for note in step.notes
                if teacher and note not in before.notes
            ]
        elif step.kind is StepKind.PROCESS and step.id not in unused:
            first = next(row for workflow, row in versions if step.id in workflow.by_id)
            text = ": ".join(filter(None, (step.text, "; ".join(step.commands))))
            by = work.teacher_of(ticket_id, first.author)
            written = WrittenText(ticket_id, anchor, text, first.author, first.created_at, by)
            work.steps += [written] if by else []
    for step in base.of_kind(StepKind.PROCESS):
        block = _block_of(page, StepSnapshot.of(step))
        if step.id not in now.by_id and block is not None:
            at = latest.created_at
            skipped, author = StepState.SKIPPED, latest.author
            mark = BlockMark(ticket_id, block, step.text, skipped, author, at, _REMOVED, teacher)
            work.put(mark)


def _anchor(page: PageBlocks, workflow: Workflow, step: Step) -> str | None:
    """Return the block of a step, or of the nearest step before it that comes from the page."""
    for each in _with_predecessors(workflow, step):
        block = _block_of(page, StepSnapshot.of(each))
        if block is not None:
            return block
    return None


def _with_predecessors(workflow: Workflow, step: Step) -> Iterator[Step]:
    """Yield a step, then those before it, the nearest first and each once."""
    before = defaultdict[str, list[str]](list)
    for edge in workflow.transitions:
        before[edge.target].append(edge.source)
    waiting, seen = [step.id], set[str]()
    while waiting:
        current = waiting.pop(0)
        if current not in seen:
            seen.add(current)
            yield workflow.by_id[current]
            waiting += before[current]
