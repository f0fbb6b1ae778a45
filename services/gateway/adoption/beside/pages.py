"""Pages that the page of a ticket leads to, and what was done with their boxes.

Marks are kept by ticket, document and block: whichever link leads to a page, and however often the
ticket's own workflow is made again, its boxes are as they were left. They are no work on that
workflow, and none of its figures counts them.
"""

import time
from typing import NamedTuple
from urllib.parse import unquote

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import (
    NO_WORK,
    PageBeside,
    PartOfMark,
    StepMark,
    WhyLeft,
    Work,
)
from services.contracts.ingestion import DocumentContents, Ingestion
from services.gateway.adoption.beside.marks import change_mark, mark_row, marks_of_page
from services.gateway.adoption.marking import (
    StepNotFoundError,
    caller_name,
)
from services.gateway.adoption.not_applicable import with_nested
from services.gateway.adoption.placing import Said, place
from services.gateway.adoption.records import done_of
from services.gateway.adoption.told import snapshot_by_step
from services.gateway.tables import LinkedMarkRow, TicketRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.lifecycle import lock_ticket, touch
from services.gateway.ticket.queries import no_ticket
from services.kit.errors import NotFoundError, UnavailableError
from services.kit.sql.database import Database
from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.kinds.tasks import tasks_of
from services.language.names import alert_names
from services.procedure.checklist.build import checklist_of_page
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
            said = marks_of_page(session, ticket_id, document_id)
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
            said = marks_of_page(session, ticket_id, document_id)
            placing = place((), said, workflow)
            row = mark_row(session, ticket_id, document_id, box, placing)
            row.told = snapshot_by_step(workflow)[box].model_dump(mode="json")
            if change_mark(session, row, workflow, placing, given):
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
