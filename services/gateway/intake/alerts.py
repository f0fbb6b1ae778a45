"""Alerts by their senders' names: which ticket each belongs to, and which are over.

Webhooks are repeated and overtake each other. Of two equal deliveries one is new, and an end that
comes before its beginning is kept until that comes.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, select, update
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketDraft
from services.gateway.sources.delivery import Resolution
from services.gateway.tables import AlertRow
from services.gateway.ticket.comments import Comment
from services.kit.sql.database import Database

_OVERTAKEN_WITHIN_S = 7 * 86_400
"""An end that came first is kept as long: no webhook is retried for longer."""


@dataclass(frozen=True)
class Claimed:
    """The ticket that an alert belongs to."""

    ticket_id: str
    is_new: bool
    """Whether the alert had not come before."""
    is_over: bool = False
    """Whether its end came first."""


class Alerts:
    """What the deliveries of one transaction say."""

    def __init__(self, database: Database) -> None:
        self._insert = database.insert

    def claim(self, session: Session, draft: TicketDraft, ticket_id: str) -> Claimed:
        """Put the alert down under this ticket, unless it is under one already."""
        if self._add(session, draft, ticket_id, over_at=None):
            return Claimed(ticket_id, is_new=True)
        overtaken = (
            update(AlertRow)
            .where(_is(draft), AlertRow.ticket_id.is_(None))
            .values(ticket_id=ticket_id)
            .returning(AlertRow.ticket_id)
        )
        if session.scalar(overtaken) is not None:
            return Claimed(ticket_id, is_new=True, is_over=True)
        known = session.scalar(select(AlertRow.ticket_id).where(_is(draft)))
        assert known is not None  # noqa: S101 - it is what the insert ran into
        return Claimed(known, is_new=False)

    def count_on(self, session: Session, draft: TicketDraft, ticket_id: str) -> None:
        """Put an alert that was claimed under the ticket that stands for it.

        A source that says it broke again says too that the time before is over.
        """
        session.execute(update(AlertRow).where(_is(draft)).values(ticket_id=ticket_id))
        if not draft.occurrence:
            return
        before = and_(_has_id(draft), AlertRow.occurrence != draft.occurrence)
        still = (before, AlertRow.ticket_id == ticket_id, AlertRow.over_at.is_(None))
        session.execute(update(AlertRow).where(*still).values(over_at=time.time()))

    def end(self, session: Session, over: Resolution) -> Sequence[str]:
        """Note that the alert is over; the tickets for which this was the first time."""
        is_meant = _is(over) if over.occurrence else _has_id(over)
        ended = (
            update(AlertRow)
            .where(is_meant, AlertRow.over_at.is_(None), AlertRow.ticket_id.is_not(None))
            .values(over_at=time.time())
            .returning(AlertRow.ticket_id)
        )
        return [each for each in session.scalars(ended) if each is not None]

    def ticket_of(self, session: Session, told: Resolution | Comment) -> tuple[str, str] | None:
        """The newest ticket that it speaks of, and which time; None when there is none."""
        which = told.occurrence if isinstance(told, Resolution) else ""
        is_meant = _has_id(told)
        if which:
            is_meant = and_(is_meant, AlertRow.occurrence == which)
        newest = (
            select(AlertRow.ticket_id, AlertRow.occurrence)
            .where(is_meant, AlertRow.ticket_id.is_not(None))
            .order_by(AlertRow.came_at.desc())
            .limit(1)
        )
        row = session.execute(newest).one_or_none()
        return (str(row.ticket_id), row.occurrence) if row else None

    def keep(self, session: Session, over: Resolution) -> None:
        """Remember an end that came first."""
        if not over.occurrence:
            return  # it may be any time that this broke; the next one must not be hidden
        self._add(session, over, None, over_at=time.time())
        too_old = AlertRow.came_at < time.time() - _OVERTAKEN_WITHIN_S
        session.execute(delete(AlertRow).where(AlertRow.ticket_id.is_(None), too_old))

    def _add(
        self,
        session: Session,
        alert: TicketDraft | Resolution,
        ticket_id: str | None,
        *,
        over_at: float | None,
    ) -> bool:
        """Whether it was not there."""
        statement = (
            self._insert(AlertRow)
            .values(
                source=alert.source,
                external_id=alert.external_id,
                occurrence=alert.occurrence,
                ticket_id=ticket_id,
                came_at=time.time(),
                over_at=over_at,
            )
            .on_conflict_do_nothing()
            .returning(AlertRow.source)
        )
        return session.scalar(statement) is not None


def _has_id(alert: TicketDraft | Resolution | Comment) -> ColumnElement[bool]:
    return and_(AlertRow.source == alert.source, AlertRow.external_id == alert.external_id)


def _is(alert: TicketDraft | Resolution) -> ColumnElement[bool]:
    return and_(_has_id(alert), AlertRow.occurrence == alert.occurrence)
