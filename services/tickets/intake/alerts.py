"""Alerts: their fingerprints, which ticket each belongs to, and which are over.

Webhooks are repeated and overtake each other. Of two equal deliveries one is new, and an end that
comes before its beginning is kept until that comes.
"""

import hashlib
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, and_, delete, select, tuple_, update
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketDraft
from services.kit.sql.database import Database
from services.tickets.intake.acknowledgement import COLUMNS
from services.tickets.intake.delivery import Resolution
from services.tickets.tables import AlertRow, TicketRow
from services.tickets.ticket.comments import Comment

_OVERTAKEN_WITHIN_S = 7 * 86_400
"""Seconds for which an end that came first is kept: no webhook is retried for longer."""

_COLUMNS = (AlertRow.source, AlertRow.external_id, AlertRow.occurrence)
_NUMBERS = re.compile(r"\d+")
_NO_WORD = re.compile(r"[\W_]+")


def fingerprint(draft: TicketDraft) -> str:
    """Return a hash that is equal for alerts of one fault; empty for what is never a repeat.

    A sender with an id for a fault and an occurrence for each time that it breaks is believed. Of
    other machines, alerts are the same when name, title, service and labels are; of senders without
    ids, when every text is. Somebody waits for the answer to a ticket that has an id of its own and
    no alert behind it, so it is never another one's repeat.
    """
    labels = (f"{name}={value}" for name, value in sorted(draft.labels.items()))
    if draft.occurrence:
        return _hash("id", draft.source, draft.external_id)
    if draft.alert_name:
        named = (draft.source, draft.alert_name, draft.title, draft.service)
        return _hash("alert", *named, *labels)
    if not draft.external_id:
        texts = (draft.source, draft.title, draft.description, draft.service)
        return _hash("text", *texts, *labels)
    return ""


def family(draft: TicketDraft) -> str:
    """Return a hash that is equal for alerts that differ in numbers only, whoever sent them."""
    words = _NUMBERS.sub("#", draft.alert_name or draft.title).casefold()
    return _hash("family", *_NO_WORD.split(words))


def _hash(*parts: str) -> str:
    text = "\0".join(part.replace("\0", " ") for part in parts)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class AlertKey(NamedTuple):
    """Source of an alert, its id there, and the occurrence of its fault."""

    source: str
    external_id: str
    occurrence: str

    @classmethod
    def of(cls, alert: Any) -> "AlertKey":  # noqa: ANN401 - a draft, a resolution, or a row
        """Return the key of an alert, of its end, or of a row."""
        return cls(alert.source, alert.external_id, alert.occurrence)


class AlertClaim(NamedTuple):
    """Alert that had not come before, or the ticket that it is under."""

    ticket: Row[*tuple[Any, ...]] | None = None
    """`COLUMNS` of the ticket that it made, or was counted on, before; None for a new alert."""
    is_over: bool = False
    """True for an alert whose end came before."""


class AlertStore:
    """Store of alerts: claimed, attached to tickets, and ended, within a transaction."""

    def __init__(self, database: Database) -> None:
        self._insert = database.insert

    def claim_many(
        self, session: Session, ticket_ids: Mapping[AlertKey, str]
    ) -> dict[AlertKey, AlertClaim]:
        """Store the alerts under these tickets, but for those that are under one already."""
        added = self._add(session, ticket_ids)
        claims = {key: AlertClaim() for key in added}
        earlier = ticket_ids.keys() - claims.keys()
        if not earlier:
            return claims
        statement = (
            select(*_COLUMNS, AlertRow.over_at, *COLUMNS)
            .outerjoin(TicketRow, TicketRow.id == AlertRow.ticket_id)
            .where(tuple_(*_COLUMNS).in_(earlier))
        )
        for row in session.execute(statement).all():
            key = AlertKey.of(row)
            overtaken = update(AlertRow).where(_is_same(key), AlertRow.ticket_id.is_(None))
            if row.ticket_id is not None:
                claims[key] = AlertClaim(row, is_over=row.over_at is not None)
            else:
                session.execute(overtaken.values(ticket_id=ticket_ids[key]))
                claims[key] = AlertClaim(is_over=True)
        return claims

    def attach_to_tickets(self, session: Session, ticket_ids: Mapping[AlertKey, str]) -> None:
        """End the earlier occurrences of claimed alerts, which repeat these tickets.

        A source that says it broke again says too that the time before is over.
        """
        latest = {key[:2]: key for key in ticket_ids if key.occurrence}
        if not latest:
            return
        earlier = (
            tuple_(AlertRow.source, AlertRow.external_id).in_(list(latest)),
            AlertRow.ticket_id.in_({ticket_ids[key] for key in latest.values()}),
            tuple_(*_COLUMNS).not_in(list(latest.values())),
            AlertRow.over_at.is_(None),
        )
        session.execute(update(AlertRow).where(*earlier).values(over_at=time.time()))

    def move(self, session: Session, key: AlertKey, ticket_id: str) -> None:
        """Attach a claimed alert to another ticket."""
        session.execute(update(AlertRow).where(_is_same(key)).values(ticket_id=ticket_id))

    def end(self, session: Session, over: Resolution) -> Sequence[str]:
        """Mark the alert as over; return the tickets for which this was the first time."""
        is_match = _is_same(over) if over.occurrence else _has_id(over)
        ended = (
            update(AlertRow)
            .where(is_match, AlertRow.over_at.is_(None), AlertRow.ticket_id.is_not(None))
            .values(over_at=time.time())
            .returning(AlertRow.ticket_id)
        )
        return [each for each in session.scalars(ended) if each is not None]

    def find_ticket(self, session: Session, item: Resolution | Comment) -> tuple[str, str] | None:
        """Return the newest ticket that the item refers to, and its occurrence; None if none is."""
        is_match = _has_id(item)
        if isinstance(item, Resolution) and item.occurrence:
            is_match = _is_same(item)
        newest = (
            select(AlertRow.ticket_id, AlertRow.occurrence)
            .where(is_match, AlertRow.ticket_id.is_not(None))
            .order_by(AlertRow.came_at.desc())
            .limit(1)
        )
        row = session.execute(newest).one_or_none()
        return (str(row.ticket_id), row.occurrence) if row else None

    def keep(self, session: Session, over: Resolution) -> None:
        """Store an end that came before its alert."""
        if not over.occurrence:
            return  # it may be any time that this broke; the next one must not be hidden
        self._add(session, {AlertKey.of(over): None}, over_at=time.time())
        too_old = AlertRow.came_at < time.time() - _OVERTAKEN_WITHIN_S
        session.execute(delete(AlertRow).where(AlertRow.ticket_id.is_(None), too_old))

    def _add(
        self,
        session: Session,
        ticket_ids: Mapping[AlertKey, str | None],
        over_at: float | None = None,
    ) -> Iterable[AlertKey]:
        """Insert the alerts, in one order everywhere; return those that were not there."""
        if not ticket_ids:
            return ()
        now = time.time()
        rows = [
            {**key._asdict(), "ticket_id": ticket_ids[key], "came_at": now, "over_at": over_at}
            for key in sorted(ticket_ids)
        ]
        insert = self._insert(AlertRow).values(rows).on_conflict_do_nothing()
        return list(map(AlertKey.of, session.execute(insert.returning(*_COLUMNS))))


def _has_id(alert: AlertKey | Resolution | Comment) -> ColumnElement[bool]:
    return and_(AlertRow.source == alert.source, AlertRow.external_id == alert.external_id)


def _is_same(alert: AlertKey | Resolution) -> ColumnElement[bool]:
    return and_(_has_id(alert), AlertRow.occurrence == alert.occurrence)
