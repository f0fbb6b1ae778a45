"""Decisions as they are kept: the latest of each ticket."""

import time

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.triage import TriageDecision
from services.gateway.events import Note, add_events
from services.gateway.tables import TriageRow

BY_PERSON = "person"


def store_decision(session: Session, ticket_id: str, decision: TriageDecision) -> None:
    """Keep the decision in place of an earlier one, and tell it as an event."""
    row = TriageRow(
        ticket_id=ticket_id,
        team=decision.team,
        by=decision.by,
        body=decision.model_dump_json(),
    )
    session.merge(row)
    kind = "assigned" if decision.by == BY_PERSON else "triaged"
    facts: dict[str, object] = {"team": decision.team, "chance": decision.chance, "by": decision.by}
    add_events(session, ticket_id, [Note(kind, facts, time.time())])


def decision_of(session: Session, ticket_id: str) -> TriageDecision | None:
    """None where triage had nothing to do with the ticket."""
    body = session.scalar(select(TriageRow.body).where(TriageRow.ticket_id == ticket_id))
    return TriageDecision.model_validate_json(body) if body else None
