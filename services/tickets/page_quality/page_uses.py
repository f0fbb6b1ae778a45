"""Part that pages had in recent tickets: answered by them, or nearly."""

import time
from collections import defaultdict
from math import ceil

from sqlalchemy import and_, case, func, or_, select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement
from services.contracts.coverage import PageUses
from services.contracts.readings import PageUse
from services.kit.ids import first_id_at
from services.kit.sql.database import Database
from services.tickets.page_quality.queries import IS_OVER
from services.tickets.tables import AdoptionRow, CitationRow, PageWordRow, TicketRow, WorkflowRow

DAY_S = 86_400
MOST_PAGES = 10_000
_LEADING_SHARE = 0.8
"""Part of the tickets that the leading pages answer, if the confirmed ones do."""


def count_page_uses(database: Database, days: int) -> PageUses:
    """Count the tickets of the last days that each page answered or came near to."""
    since_s = time.time() - days * DAY_S
    since = first_id_at(since_s)
    is_shown = CitationRow.workflow_id == TicketRow.workflow_id
    is_answered = func.max(case((is_shown, 1), else_=0)).label("is_answered")
    pairs = (
        select(CitationRow.document_id, CitationRow.ticket_id, is_answered)
        .join(TicketRow, TicketRow.id == CitationRow.ticket_id)
        .where(CitationRow.ticket_id >= since, IS_OVER)
        .group_by(CitationRow.document_id, CitationRow.ticket_id)
        .subquery()
    )
    answered = func.sum(pairs.c.is_answered)
    counts = (
        select(pairs.c.document_id, answered, func.count() - answered)
        .group_by(pairs.c.document_id)
        .order_by(func.count().desc())
        .limit(MOST_PAGES)
    )
    with database.session() as session:
        tickets = session.scalar(select(func.count()).where(TicketRow.id >= since, IS_OVER)) or 0
        pages = {
            id_: PageUse(answered=int(shown), near=int(near))
            for id_, shown, near in session.execute(counts)
        }
        reached = session.scalar(select(func.count(pairs.c.ticket_id.distinct()))) or 0
        confirmed = _confirmed_pages(session, since_s)
        answers = select(pairs.c.document_id, pairs.c.ticket_id).where(pairs.c.is_answered == 1)
        tickets_of: dict[str, set[str]] = defaultdict(set)
        for id_, ticket_id in session.execute(answers):
            if id_ in confirmed:
                tickets_of[id_].add(ticket_id)
    leading, covered = list[str](), set[str]()
    for id_ in sorted(tickets_of, key=lambda page: (-len(tickets_of[page]), page)):
        if len(covered) < ceil(_LEADING_SHARE * tickets) and not tickets_of[id_] <= covered:
            leading.append(id_)
            covered |= tickets_of[id_]
    return PageUses(
        days=days,
        tickets=tickets,
        pages=pages,
        leading=tuple(leading),
        answered=len(covered),
        near=reached - len(set[str]().union(*tickets_of.values())),
    )


def _confirmed_pages(session: Session, since_s: float) -> set[str]:
    """Return pages that an engineer chose, accepted, or resolved a ticket with."""
    chosen = select(PageWordRow.document_id).where(PageWordRow.is_taken)
    is_resolved = and_(AdoptionRow.used > 0, TicketRow.resolved_at.is_not(None))
    solved = (
        select(CitationRow.document_id)
        .join(TicketRow, TicketRow.workflow_id == CitationRow.workflow_id)
        .join(WorkflowRow, WorkflowRow.ticket_id == TicketRow.id)
        .join(AdoptionRow, AdoptionRow.candidate_id == WorkflowRow.id)
        .where(
            AdoptionRow.worked_at >= since_s,
            or_(AdoptionRow.verdict == Judgement.ACCEPTED.value, is_resolved),
        )
    )
    return set(session.scalars(chosen.union(solved)))
