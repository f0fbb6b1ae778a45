"""Intake: a delivery becomes stored tickets, each with its walk queued, in one transaction."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy import ColumnElement, and_, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from services.contracts.gateway import Accepted, AcceptedTicket
from services.contracts.ticket import TicketDraft, TicketStatus
from services.gateway.comments import READ_COMMENT_TASK, add_comment
from services.gateway.events import Note, add_events
from services.gateway.sources.delivery import Comment, Delivery, Resolution
from services.gateway.tables import IdempotencyRow, ResolutionRow, TicketRow
from services.kit.database import Database
from services.kit.errors import ConflictError
from services.kit.ids import time_ordered_id
from services.kit.outbox import Outbox

WALK_TASK = "gateway.walk_ticket"
LEARN_TICKET_TASK = "gateway.learn_ticket"

_Alert = TicketDraft | Resolution

_NO_TICKET = "a comment on a ticket that is not known here"

_OVERTAKEN_WITHIN_S = 7 * 86_400
"""An end that came first is kept as long: no webhook is retried for longer."""


class IdempotencyKeyReusedError(ConflictError):
    """The `Idempotency-Key` was used before with another body."""


@dataclass(frozen=True)
class DeliveryKey:
    """The sender's `Idempotency-Key` and a hash of what it was sent with."""

    key: str
    request_hash: str


class _KeyTakenError(Exception):
    """Another request stored its answer under the key first; this one's work is rolled back."""


class Intake:
    """Stores deliveries. Of two equal ones, even at the same moment, one makes the ticket.

    Webhooks are repeated and overtake each other: an alert that is over before it has begun here is
    kept as such, and its ticket is a resolved one when it comes.
    """

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox
        self._insert = sqlite.insert if database.is_sqlite else postgresql.insert

    def accept(self, delivery: Delivery, key: DeliveryKey | None = None) -> Accepted:
        """Store the delivery; when this returns, all of it is committed.

        Raises:
            IdempotencyKeyReusedError: The key came before with another body.
        """
        if key is None:
            with self._database.session() as session:
                return self._store(session, delivery)
        return self._answered(key) or self._accept_once(delivery, key)

    def _accept_once(self, delivery: Delivery, key: DeliveryKey) -> Accepted:
        try:
            with self._database.session() as session:
                accepted = self._store(session, delivery)
                self._remember(session, key, accepted)
                return accepted
        except _KeyTakenError:
            answered = self._answered(key)
            assert answered is not None  # noqa: S101 - its row is why we are here
            return answered

    def _answered(self, key: DeliveryKey) -> Accepted | None:
        with self._database.session() as session:
            row = session.get(IdempotencyRow, key.key)
        if row is None:
            return None
        if row.request_hash != key.request_hash:
            raise IdempotencyKeyReusedError(
                "this Idempotency-Key was used with another body; use a new key for a new request"
            )
        accepted = Accepted.model_validate_json(row.answer)
        return accepted.of(tuple(t.model_copy(update={"created": False}) for t in accepted.tickets))

    def _remember(self, session: Session, key: DeliveryKey, accepted: Accepted) -> None:
        statement = (
            self._insert(IdempotencyRow)
            .values(
                key=key.key,
                request_hash=key.request_hash,
                answer=accepted.model_dump_json(),
                created_at=time.time(),
            )
            .on_conflict_do_nothing()
            .returning(IdempotencyRow.key)
        )
        if session.scalar(statement) is None:
            raise _KeyTakenError

    def _store(self, session: Session, delivery: Delivery) -> Accepted:
        self._database.take_turn(session, _names(delivery))
        tickets = [self._ticket(session, draft) for draft in delivery.tickets]
        ended = [self._resolve(session, resolution) for resolution in delivery.resolved]
        commented = [self._comment(session, said) for said in delivery.comments]
        tickets += [ticket for ticket in (*ended, *commented) if ticket is not None]
        accepted = Accepted(
            tickets=(),
            rejected=delivery.rejected,
            ignored=(
                *(event.reason for event in delivery.ignored),
                *(_NO_TICKET for known in commented if known is None),
            ),
            unmatched_resolved=ended.count(None),
        )
        return accepted.of(tuple(tickets))

    def _ticket(self, session: Session, draft: TicketDraft) -> AcceptedTicket:
        """The draft's ticket: a new one with its first event and its queued walk, or the old."""
        ticket_id, now = time_ordered_id(), time.time()
        values = draft.model_dump()
        values["external_id"] = draft.external_id or ticket_id
        statement = (
            self._insert(TicketRow)
            .values(
                **values,
                id=ticket_id,
                status=TicketStatus.RECEIVED.value,
                reason="",
                nearest=[],
                against=[],
                created_at=now,
                updated_at=now,
            )
            .on_conflict_do_nothing(index_elements=["source", "external_id", "occurrence"])
            .returning(TicketRow.id)
        )
        if session.scalar(statement) is None:
            known = _known(session, draft)
            assert known is not None  # noqa: S101 - it is what the insert ran into
            return known
        add_events(session, ticket_id, [Note("received", {"source": draft.source})])
        _resolve_if_over(session, draft)
        key = f"{WALK_TASK}:{ticket_id}"
        self._outbox.put(session, WALK_TASK, {"ticket_id": ticket_id}, key)
        return AcceptedTicket(
            id=ticket_id,
            status=TicketStatus.RECEIVED,
            status_url=ticket_url(ticket_id),
            source=draft.source,
            external_id=values["external_id"],
            occurrence=draft.occurrence,
            created=True,
        )

    def _resolve(self, session: Session, over: Resolution) -> AcceptedTicket | None:
        """Note on the ticket that its fault is over; kept, and None, when there is no ticket."""
        ended = _mark_resolved(session, over, time.time())
        known = _known(session, over)
        if known is None:
            self._keep(session, over)
            return None
        for ticket_id in ended:
            key = f"{LEARN_TICKET_TASK}:{ticket_id}"
            self._outbox.put(session, LEARN_TICKET_TASK, {"ticket_id": ticket_id}, key)
        return known.model_copy(update={"resolved": True})

    def _comment(self, session: Session, said: Comment) -> AcceptedTicket | None:
        """Keep what was said about a ticket, once, to be read; None where it is not known here."""
        known = _known(session, said)
        if known is not None and add_comment(session, known.id, said):
            arguments = {"ticket_id": known.id, "comment_id": said.id}
            key = f"{READ_COMMENT_TASK}:{known.id}:{said.id}"
            self._outbox.put(session, READ_COMMENT_TASK, arguments, key)
        return known

    def _keep(self, session: Session, over: Resolution) -> None:
        if not over.occurrence:
            return  # it may be any time that this broke; the next one must not be hidden
        statement = self._insert(ResolutionRow).values(
            source=over.source,
            external_id=over.external_id,
            occurrence=over.occurrence,
            said_at=time.time(),
        )
        session.execute(statement.on_conflict_do_nothing())
        too_old = ResolutionRow.said_at < time.time() - _OVERTAKEN_WITHIN_S
        session.execute(delete(ResolutionRow).where(too_old))


def ticket_url(ticket_id: str) -> str:
    """The address that tells how a ticket stands."""
    return f"/v1/tickets/{quote(ticket_id, safe='')}"


def _names(delivery: Delivery) -> Iterator[str]:
    """A name for each item that another request may speak of at the same moment."""
    both: tuple[_Alert, ...] = (*delivery.tickets, *delivery.resolved)
    for item in both:
        if item.external_id:
            yield "\n".join((item.source, item.external_id, item.occurrence))


def _resolve_if_over(session: Session, draft: TicketDraft) -> None:
    """Mark the new ticket of an alert whose end came first."""
    if not draft.occurrence:
        return
    statement = (
        delete(ResolutionRow).where(_is_of(ResolutionRow, draft)).returning(ResolutionRow.said_at)
    )
    said_at = session.scalar(statement)
    if said_at is not None:
        _mark_resolved(session, draft, said_at)


def _mark_resolved(session: Session, alert: _Alert, said_at: float) -> Sequence[str]:
    """Write on what is open of the alert, if anything is, that its fault is over; once.

    Returns the ids of the tickets for which this was the first time.
    """
    statement = (
        update(TicketRow)
        .where(_is_of(TicketRow, alert), TicketRow.resolved_at.is_(None))
        .values(resolved_at=said_at, updated_at=time.time())
        .returning(TicketRow.id)
    )
    ended = session.scalars(statement).all()
    for ticket_id in ended:
        add_events(session, ticket_id, [Note("resolved")])
    return ended


def _is_of(table: type[TicketRow | ResolutionRow], alert: _Alert | Comment) -> ColumnElement[bool]:
    """Whether a row is of this alert, this time that it fires; an end may mean every time."""
    is_same = and_(table.source == alert.source, table.external_id == alert.external_id)
    if isinstance(alert, Comment) or (isinstance(alert, Resolution) and not alert.occurrence):
        return is_same
    return and_(is_same, table.occurrence == alert.occurrence)


def _known(session: Session, alert: _Alert | Comment) -> AcceptedTicket | None:
    columns = (TicketRow.id, TicketRow.status, TicketRow.reason, TicketRow.occurrence)
    of_alert = select(*columns).where(_is_of(TicketRow, alert))
    row = session.execute(of_alert.order_by(TicketRow.id.desc()).limit(1)).one_or_none()
    if row is None:
        return None
    return AcceptedTicket(
        id=row.id,
        status=TicketStatus(row.status),
        status_url=ticket_url(row.id),
        source=alert.source,
        external_id=alert.external_id,
        occurrence=row.occurrence,
        created=False,
        reason=row.reason,
    )
