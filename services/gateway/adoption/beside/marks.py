"""Rows of what was done with the boxes of such a page."""

import time
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import PartOfMark, StepMark, StepState, StepWork, WhyLeft
from services.gateway.adoption.marking import caller_name, checked_mark, lost_fields
from services.gateway.adoption.not_applicable import with_nested
from services.gateway.adoption.placing import Placing, Said
from services.gateway.adoption.standing import keep_said
from services.gateway.adoption.told import StepTold
from services.gateway.tables import LinkedMarkRow, moment
from services.workflow.model import Workflow


def marks_of_page(session: Session, ticket_id: str, document_id: str) -> list[Said]:
    """Return what was done on a ticket with the boxes of a document."""
    statement = select(LinkedMarkRow).where(
        LinkedMarkRow.ticket_id == ticket_id, LinkedMarkRow.document_id == document_id
    )
    return [_said(row) for row in session.scalars(statement.order_by(LinkedMarkRow.box))]


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


def mark_row(
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


def change_mark(
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
