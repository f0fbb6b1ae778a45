"""Pages that a ticket's page links to, and the marks on their boxes.

Marks are keyed by ticket, document and block: they survive whichever link leads to a page, and
however often the ticket's own workflow is made again. They are not work on that workflow, and none
of its figures counts them.
"""

import time
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import unquote

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import (
    NO_WORK,
    MarkPatch,
    PageBeside,
    StepMark,
    StepState,
    StepWork,
    WhyLeft,
    Work,
)
from services.contracts.ingestion import DocumentContents, Ingestion
from services.kit.errors import NotFoundError, UnavailableError
from services.kit.sql.database import Database
from services.kit.teaching.ledger import record_teaching, ticket_subject
from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.kinds.tasks import tasks_of
from services.language.names import alert_names
from services.runbook.checklist.build import checklist_of_page
from services.runbook.checklist.opening import open_sections
from services.runbook.checklist.shown import page_of
from services.tickets.adoption.carry_over import (
    FeedbackPlacement,
    StepFeedback,
    StepSnapshot,
    place_feedback,
    snapshot_by_step,
)
from services.tickets.adoption.feedback_recorder import (
    StepNotFoundError,
    caller_name,
    changed_mark,
    lost_fields,
)
from services.tickets.adoption.step_feedback import archive_feedback, with_nested
from services.tickets.adoption.usage import done_of
from services.tickets.tables import LinkedMarkRow, TicketRow, to_datetime
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import lock_ticket, touch
from services.tickets.ticket.queries import no_ticket
from services.workflow.model import Workflow
from services.workflow.path import progress_of

_EVENT_CHARACTERS = 80
"""Characters of a box's text that the ticket's history keeps."""


class _LinkedDocument(NamedTuple):
    """A linked document in its current state."""

    title: str = ""
    exists: bool = False
    workflow: Workflow | None = None


class LinkedPageFeedback:
    """Reader of linked pages and recorder of the marks on their boxes."""

    def __init__(self, database: Database, ingestion: Ingestion | None) -> None:
        """Create the reader; without `ingestion`, which has the pages, none can be shown."""
        self._database = database
        self._ingestion = ingestion

    def page(self, ticket_id: str, document_id: str, *, heading: str = "") -> PageBeside:
        """Return a linked page with the marks that the ticket has on its boxes.

        Of a page of several tasks one is open: the task that `heading`, the fragment of the link,
        names, or else the one named after the ticket's alert.

        Raises:
            TicketNotFoundError: No such ticket.
            UnavailableError: Ingestion did not answer.
        """
        with self._database.session() as session:
            names = _alert_names(session, ticket_id)
        linked = self._linked(document_id)
        workflow = linked.workflow and _with_open_section(linked.workflow, names, heading)
        with self._database.session() as session:
            feedback = marks_of_page(session, ticket_id, document_id)
        return PageBeside(
            document_id=document_id,
            title=linked.title,
            is_known=linked.exists,
            workflow=workflow,
            work=_work(ticket_id, workflow, feedback),
        )

    def marked(self, ticket_id: str) -> tuple[PageBeside, ...]:
        """Return the pages with a box marked on the ticket, in the order of their ids.

        Raises:
            TicketNotFoundError: No such ticket.
            UnavailableError: Ingestion did not answer.
        """
        of_ticket = LinkedMarkRow.ticket_id == ticket_id
        statement = select(LinkedMarkRow.document_id).where(of_ticket).distinct()
        with self._database.session() as session:
            documents = sorted(session.scalars(statement))
        return tuple(self.page(ticket_id, document) for document in documents)

    def mark(
        self, ticket_id: str, document_id: str, box: str, requested: StepMark | MarkPatch
    ) -> PageBeside:
        """Replace the mark of a box, or a part of it.

        Raises:
            TicketNotFoundError: No such ticket.
            StepNotFoundError: The page no longer has the box, or is no longer known.
            UnusableMarkError: The box was skipped without a reason.
            UnavailableError: Ingestion did not answer.
        """
        workflow = self._linked(document_id).workflow
        step = workflow.by_id.get(box) if workflow else None
        if workflow is None or step is None or not step.block:
            raise StepNotFoundError("the page has no such box any more: look at it again")
        with self._database.session() as session:
            lock_ticket(session, ticket_id)
            _alert_names(session, ticket_id)
            feedback = marks_of_page(session, ticket_id, document_id)
            placement = place_feedback((), feedback, workflow)
            row = get_or_reset_row(session, ticket_id, document_id, box, placement)
            row.told = snapshot_by_step(workflow)[box].model_dump(mode="json")
            earlier = feedback_from_linked_row(row)
            mark = changed_mark(workflow, placement, earlier.work, requested)
            if mark is not None:
                is_form = isinstance(requested, MarkPatch)
                if lost := lost_fields(earlier.work, mark, is_form=is_form):
                    words = StepWork(step=box, **earlier.work.model_dump(include=lost))
                    left = replace(earlier, work=words)
                    archive_feedback(session, ticket_id, left, WhyLeft.REPLACED)
                if row.seen != mark.seen:
                    row.seen_by = caller_name()
                row.state, row.why, row.seen = mark.state.value, mark.why, mark.seen
                row.marked_by, row.marked_at = caller_name(), time.time()
                record_teaching(session, ticket_subject(ticket_id))
                touch(session, ticket_id, time.time())
                facts: dict[str, object] = {
                    "document": document_id,
                    "box": step.text[:_EVENT_CHARACTERS],
                    "mark": row.state,
                    "by": caller_name(),
                }
                add_events(session, ticket_id, [Note("marked_beside", facts)])
        return self.page(ticket_id, document_id)

    def _linked(self, document_id: str) -> _LinkedDocument:
        if self._ingestion is None:
            raise UnavailableError("this gateway knows no ingestion to ask for pages")
        try:
            contents = self._ingestion.contents(document_id)
        except NotFoundError:
            return _LinkedDocument()
        return _LinkedDocument(contents.document.title, exists=True, workflow=_checklist(contents))


def _checklist(contents: DocumentContents) -> Workflow | None:
    """Return the checklist of a document; the key of its block is the id of each step."""
    made = checklist_of_page(
        contents.shown_page, corrections=contents.boxes, habit=contents.box_habit
    )
    if made is None:
        return None
    ids = {step.id: step.node or step.id for step in made.steps}
    return made.model_copy(
        update={
            "steps": tuple(step.model_copy(update={"id": ids[step.id]}) for step in made.steps),
            "transitions": tuple(
                edge.model_copy(update={"source": ids[edge.source], "target": ids[edge.target]})
                for edge in made.transitions
            ),
        }
    )


def _alert_names(session: Session, ticket_id: str) -> set[str]:
    """Return the names of the ticket's alert; raises `TicketNotFoundError`."""
    row = session.get(TicketRow, ticket_id)
    if row is None:
        raise no_ticket(ticket_id)
    return {*filter(None, (row.alert_name, *alert_names(row.title)))}


def _with_open_section(workflow: Workflow, names: set[str], heading: str) -> Workflow:
    page, shown = page_of(workflow), workflow.page
    if shown is None:
        return workflow
    keys = {step.node: True for step in workflow.steps if step.node}
    opened = open_sections(
        page,
        tasks_of(page, find_boxes(page, keys)),
        alert_names=() if unquote(heading) in page.anchors else names,
        anchor=unquote(heading),
        lines={},
    )
    return workflow.model_copy(update={"page": shown.model_copy(update={"open": opened})})


def _work(ticket_id: str, workflow: Workflow | None, feedback: list[StepFeedback]) -> Work:
    """Return the work on a page; on a page that is gone all feedback counts as left behind."""
    if workflow is None:
        left = tuple(
            each.as_left_behind(WhyLeft.GONE) for each in feedback if not each.work.is_blank
        )
        return NO_WORK.model_copy(update={"ticket_id": ticket_id, "left_behind": left})
    placement = place_feedback((), feedback, workflow)
    steps = with_nested(workflow, [each.work for each in placement.by_step.values()])
    path = progress_of(workflow, done_of(workflow, steps))
    return NO_WORK.model_copy(
        update={
            "ticket_id": ticket_id,
            "steps": tuple(sorted(steps, key=lambda work: work.step)),
            "left_behind": placement.left_behind,
            "next": path.next,
            "done": path.done,
            "skipped": path.skipped,
            "total": path.total,
        }
    )


def marks_of_page(session: Session, ticket_id: str, document_id: str) -> list[StepFeedback]:
    """Return the feedback that a ticket has on the boxes of a document."""
    statement = select(LinkedMarkRow).where(
        LinkedMarkRow.ticket_id == ticket_id, LinkedMarkRow.document_id == document_id
    )
    return [
        feedback_from_linked_row(row)
        for row in session.scalars(statement.order_by(LinkedMarkRow.box))
    ]


def feedback_from_linked_row(row: LinkedMarkRow) -> StepFeedback:
    """Return the feedback in a row, with the box as it read at the time."""
    work = StepWork(
        step=row.box,
        state=StepState(row.state),
        why=row.why,
        seen=row.seen,
        seen_by=row.seen_by,
        marked_by=row.marked_by,
        marked_at=to_datetime(row.marked_at),
    )
    return StepFeedback(work, StepSnapshot.model_validate(row.told), "")


def get_or_reset_row(
    session: Session, ticket_id: str, document_id: str, box: str, placement: FeedbackPlacement
) -> LinkedMarkRow:
    """Return the row of a box, to be changed.

    A mark from when the box had another text is archived first, and the row starts blank.
    """
    row = session.get(LinkedMarkRow, (ticket_id, document_id, box))
    if row is None:
        row = LinkedMarkRow(ticket_id=ticket_id, document_id=document_id, box=box)
        session.add(row)
    elif box in placement.by_step:
        return row
    else:
        archive_feedback(session, ticket_id, feedback_from_linked_row(row), WhyLeft.PAGE_CHANGED)
    row.state, row.why, row.seen = StepState.OPEN.value, "", ""
    row.seen_by, row.marked_by, row.marked_at = "", "", None
    return row
