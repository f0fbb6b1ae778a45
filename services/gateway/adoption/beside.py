"""Pages that the page of a ticket leads to, and what was done with their boxes.

Marks are kept by ticket, document and block: whichever link leads to a page, and however often the
ticket's own workflow is made again, its boxes are as they were left. They are no work on that
workflow, and none of its figures counts them.
"""

import time
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import unquote

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import (
    NO_WORK,
    PageBeside,
    PartOfMark,
    StepMark,
    StepState,
    StepWork,
    WhyLeft,
    Work,
)
from services.contracts.ingestion import DocumentContents, Ingestion
from services.gateway.adoption.marking import (
    StepNotFoundError,
    caller_name,
    checked_mark,
    lost_fields,
)
from services.gateway.adoption.not_applicable import with_nested
from services.gateway.adoption.placing import Placing, Said, place
from services.gateway.adoption.records import done_of
from services.gateway.adoption.standing import keep_said
from services.gateway.adoption.told import StepTold, snapshot_by_step
from services.gateway.page_contents import checklist_of_contents
from services.gateway.tables import LinkedMarkRow, TicketRow, moment
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.lifecycle import lock_ticket, touch
from services.gateway.ticket.queries import no_ticket
from services.kit.errors import NotFoundError, UnavailableError
from services.kit.sql.database import Database
from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.tasks import tasks_of
from services.language.names import alert_names
from services.procedure.checklist.opening import open_sections
from services.procedure.checklist.shown import page_of
from services.workflow.model import Workflow
from services.workflow.path import path_of

_TOLD_CHARACTERS = 80
"""Of a box in the history of its ticket."""


class _Linked(NamedTuple):
    """A document as it stands now."""

    title: str = ""
    is_known: bool = False
    workflow: Workflow | None = None


class PagesBeside:
    """Reads these pages, and takes down what is done with their boxes."""

    def __init__(self, database: Database, ingestion: Ingestion | None) -> None:
        """`ingestion` has the pages; without it there is none to be shown."""
        self._database = database
        self._ingestion = ingestion

    def page(self, ticket_id: str, document_id: str, *, heading: str = "") -> PageBeside:
        """Return a page with what was done on the ticket with its boxes.

        Of a page of several tasks the one stands open that a link's fragment, `heading`, leads to,
        or that is named after the ticket's alert.

        Raises:
            TicketNotFoundError: No such ticket.
            UnavailableError: Ingestion did not answer.
        """
        with self._database.session() as session:
            names = _alert_names(session, ticket_id)
        linked = self._linked(document_id)
        opened = linked.workflow and _opened(linked.workflow, names, heading)
        with self._database.session() as session:
            said = [_said(row) for row in _rows(session, ticket_id, document_id)]
        return PageBeside(
            document_id=document_id,
            title=linked.title,
            is_known=linked.is_known,
            workflow=opened,
            work=_work(ticket_id, opened, said),
        )

    def marked(self, ticket_id: str) -> tuple[PageBeside, ...]:
        """Return the pages of which a box was marked on the ticket, in the order of their ids.

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
        self, ticket_id: str, document_id: str, box: str, given: StepMark | PartOfMark
    ) -> PageBeside:
        """Put what was done with a box in the place of what was said before, or a part of it.

        Raises:
            TicketNotFoundError: No such ticket.
            StepNotFoundError: The page has no such box any more, or is not known any more.
            UnusableMarkError: Skipped without a word.
            UnavailableError: Ingestion did not answer.
        """
        workflow = self._linked(document_id).workflow
        step = workflow.by_id.get(box) if workflow else None
        if workflow is None or step is None or not step.block:
            raise StepNotFoundError("the page has no such box any more: look at it again")
        with self._database.session() as session:
            lock_ticket(session, ticket_id)
            _alert_names(session, ticket_id)
            said = [_said(row) for row in _rows(session, ticket_id, document_id)]
            placing = place((), said, workflow)
            row = _row(session, ticket_id, document_id, box, placing)
            row.told = snapshot_by_step(workflow)[box].model_dump(mode="json")
            if _change(session, row, workflow, placing, given):
                touch(session, ticket_id, time.time())
                facts: dict[str, object] = {
                    "document": document_id,
                    "box": step.text[:_TOLD_CHARACTERS],
                    "mark": row.state,
                    "by": caller_name(),
                }
                add_events(session, ticket_id, [Note("marked_beside", facts)])
        return self.page(ticket_id, document_id)

    def _linked(self, document_id: str) -> _Linked:
        if self._ingestion is None:
            raise UnavailableError("this gateway knows no ingestion to ask for pages")
        try:
            contents = self._ingestion.contents(document_id)
        except NotFoundError:
            return _Linked()
        return _Linked(contents.document.title, is_known=True, workflow=_checklist(contents))


def _checklist(contents: DocumentContents) -> Workflow | None:
    """Return the checklist of a document, each step under the key of its block."""
    made = checklist_of_contents(contents)
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
    """Return what the alert of a ticket is called; raises `TicketNotFoundError`."""
    row = session.get(TicketRow, ticket_id)
    if row is None:
        raise no_ticket(ticket_id)
    return {*filter(None, (row.alert_name, *alert_names(row.title)))}


def _opened(workflow: Workflow, names: set[str], heading: str) -> Workflow:
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


def _rows(session: Session, ticket_id: str, document_id: str) -> list[LinkedMarkRow]:
    statement = select(LinkedMarkRow).where(
        LinkedMarkRow.ticket_id == ticket_id, LinkedMarkRow.document_id == document_id
    )
    return list(session.scalars(statement.order_by(LinkedMarkRow.box)))


def _said(row: LinkedMarkRow) -> Said:
    work = StepWork(
        step=row.box,
        state=StepState(row.state),
        why=row.why,
        seen=row.seen,
        seen_by=row.seen_by,
        marked_by=row.marked_by,
        marked_at=moment(row.marked_at),
    )
    return Said(work, StepTold.model_validate(row.told), "")


def _work(ticket_id: str, workflow: Workflow | None, said: list[Said]) -> Work:
    """Return how far the work on a page is; of one that is not there all that was done is left."""
    if workflow is None:
        left = tuple(each.left(WhyLeft.GONE) for each in said if not each.work.is_blank)
        return NO_WORK.model_copy(update={"ticket_id": ticket_id, "left_behind": left})
    placing = place((), said, workflow)
    steps = with_nested(workflow, [each.work for each in placing.under.values()])
    path = path_of(workflow, done_of(workflow, steps))
    return NO_WORK.model_copy(
        update={
            "ticket_id": ticket_id,
            "steps": tuple(sorted(steps, key=lambda work: work.step)),
            "left_behind": placing.left,
            "next": path.next,
            "done": path.done,
            "skipped": path.skipped,
            "total": path.total,
        }
    )


def _row(
    session: Session, ticket_id: str, document_id: str, box: str, placing: Placing
) -> LinkedMarkRow:
    """Return what is known of a box, to be changed.

    What was done with it while it said something else is kept aside.
    """
    row = session.get(LinkedMarkRow, (ticket_id, document_id, box))
    if row is None:
        row = LinkedMarkRow(ticket_id=ticket_id, document_id=document_id, box=box)
        session.add(row)
    elif box in placing.under:
        return row
    else:
        keep_said(session, ticket_id, _said(row), WhyLeft.PAGE_CHANGED)
    row.state, row.why, row.seen = StepState.OPEN.value, "", ""
    row.seen_by, row.marked_by, row.marked_at = "", "", None
    return row


def _change(
    session: Session,
    row: LinkedMarkRow,
    workflow: Workflow,
    placing: Placing,
    given: StepMark | PartOfMark,
) -> bool:
    """Write a mark down; false where it says what stands there."""
    works = with_nested(workflow, [each.work for each in placing.under.values()])
    state = next((each.state for each in works if each.step == row.box), StepState.OPEN)
    before = StepMark(state=state, why=row.why, seen=row.seen)
    is_form = isinstance(given, PartOfMark)
    whole = given.put_on(before) if isinstance(given, PartOfMark) else given
    mark = checked_mark(workflow, row.box, whole)
    if before == mark.model_copy(update={"was": None}):
        return False
    said = _said(row)
    if lost := lost_fields(said.work, mark, is_form=is_form):
        words = StepWork(step=row.box, **said.work.model_dump(include=lost))
        keep_said(session, row.ticket_id, replace(said, work=words), WhyLeft.REPLACED)
    if row.seen != mark.seen:
        row.seen_by = caller_name()
    row.state, row.why, row.seen = mark.state.value, mark.why, mark.seen
    row.marked_by, row.marked_at = caller_name(), time.time()
    return True
