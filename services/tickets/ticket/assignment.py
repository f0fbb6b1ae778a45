"""Latest triage decision of each ticket, in the database."""

import time

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from services.contracts.triage import TriageDecision
from services.kit.sql.database import insert_of
from services.tickets.tables import TriageRow
from services.tickets.ticket.events import Note, add_events

BY_PERSON = "person"


def store_decision(session: Session, ticket_id: str, decision: TriageDecision) -> None:
    """Store the decision in place of an earlier one, and record an event."""
    values = {"team": decision.team, "by": decision.by, "body": decision.model_dump_json()}
    insert = insert_of(session)
    statement = insert(TriageRow).values(ticket_id=ticket_id, **values)
    session.execute(statement.on_conflict_do_update(index_elements=["ticket_id"], set_=values))
    kind = "assigned" if decision.by == BY_PERSON else "triaged"
    facts: dict[str, object] = {"team": decision.team, "chance": decision.chance, "by": decision.by}
    add_events(session, ticket_id, [Note(kind, facts, time.time())])


def store_decision_of_walk(
    session: Session, ticket_id: str, decision: TriageDecision | None
) -> None:
    """Store the team that a walk chose, or none; a person's decision is never replaced."""
    before = decision_of(session, ticket_id)
    if before is not None and before.by == BY_PERSON:
        return
    if decision is not None:
        store_decision(session, ticket_id, decision)
    elif before is not None:
        session.execute(delete(TriageRow).where(TriageRow.ticket_id == ticket_id))


def forget_decision(session: Session, ticket_id: str, by: str) -> None:
    """Delete the decision, and record an event."""
    session.execute(delete(TriageRow).where(TriageRow.ticket_id == ticket_id))
    add_events(session, ticket_id, [Note("handed_back", {"by": by})])


def decision_of(session: Session, ticket_id: str) -> TriageDecision | None:
    """Return the ticket's triage decision; None if it has none."""
    body = session.scalar(select(TriageRow.body).where(TriageRow.ticket_id == ticket_id))
    return TriageDecision.model_validate_json(body) if body else None
