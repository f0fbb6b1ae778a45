"""Intake: deliveries become stored tickets, each with its walk queued, in one transaction.

Deliveries that come at the same moment share a transaction, so that the cost of a storm depends on
the database's round trips and not on the number of alerts.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Row, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from services.contracts.gateway import Accepted, AcceptedTicket
from services.contracts.ticket import TicketDraft
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database, DatabaseUnavailableError
from services.kit.sql.group_commit import GroupCommit
from services.tickets.intake.acknowledgement import COLUMNS, acknowledge, read_tickets
from services.tickets.intake.alerts import AlertKey, AlertStore, family, fingerprint
from services.tickets.intake.delivery import Delivery, Resolution
from services.tickets.intake.idempotency import Answers, DeliveryKey, KeyTakenError
from services.tickets.tables import TicketRow
from services.tickets.ticket.comments import Comment, add_comment
from services.tickets.ticket.lifecycle import NewTicket, open_tickets
from services.tickets.ticket.queue import READ_COMMENT_TASK
from services.tickets.ticket.updates import TicketUpdates

_log = structlog.get_logger()

_NO_TICKET = "a comment on a ticket that is not known here"
_Tickets = dict[str, NewTicket | Row[*tuple[Any, ...]]]


@dataclass(frozen=True, eq=False)
class _Alert:
    """One alert of a delivery."""

    draft: TicketDraft
    """The draft; without an id from its source it has the id of its ticket."""
    fingerprint: str
    """Fingerprint by which repeats are recognised; empty for what is never one."""
    ticket_id: str
    """Id of the ticket that it opens if it is new."""
    key: AlertKey
    is_first_report: bool
    """True if it says that it is new at its source: one of a ticket that is over came late."""


@dataclass(frozen=True, eq=False)
class _Request:
    """Delivery of one request, with the context in whose name it is stored."""

    delivery: Delivery
    alerts: Sequence[_Alert]
    context: Context

    def lock_keys(self, recent: _Tickets) -> Iterator[str]:
        """Yield a key for each item that another transaction may touch at the same moment.

        A storm that is on its ticket needs no locks.
        """
        for alert in self.alerts:
            is_repeat = alert.fingerprint in recent
            if alert.fingerprint and not is_repeat:
                yield alert.fingerprint
            if not is_repeat or self.delivery.resolved:
                yield "\n".join(alert.key)
        for over in self.delivery.resolved:
            if over.external_id:
                yield "\n".join(AlertKey.of(over))


class Intake:
    """Store of deliveries. Of two equal ones, even at the same moment, one makes the ticket.

    Alerts that one source repeats for one fault are one ticket with a count.
    """

    def __init__(self, database: Database, outbox: Outbox, *, repeats_within_s: float) -> None:
        """Count an alert as a repeat if the last of its kind came at most so many seconds ago."""
        self._database = database
        self._outbox = outbox
        self._repeats_within_s = repeats_within_s
        self._alerts = AlertStore(database)
        self._answers = Answers(database)
        self._group_commit: GroupCommit[_Request, Accepted | None] = GroupCommit(self._store_batch)

    def accept(self, delivery: Delivery, key: DeliveryKey | None = None) -> Accepted:
        """Store the delivery; when this returns, all of it is committed.

        Raises:
            IdempotencyKeyReusedError: The key came before with another body.
        """
        if key is not None and (answered := self._answers.find(key)):
            return answered
        alerts = []
        for draft in delivery.tickets:
            ticket_id = time_ordered_id()
            named = draft.model_copy(update={"external_id": draft.external_id or ticket_id})
            key_ = AlertKey.of(named)
            is_first = AlertKey.of(draft) in delivery.first_reports
            alerts.append(_Alert(named, fingerprint(draft), ticket_id, key_, is_first))
        request = _Request(delivery, alerts, copy_context())
        if key is None and alerts and not (delivery.resolved or delivery.comments):
            stored = self._group_commit.submit(request)
            if stored is not None:
                return stored
        try:
            with self._database.session() as session:
                (accepted,) = self._store(session, [request])
                if key is not None:
                    self._answers.keep(session, key, accepted)
                return accepted
        except KeyTakenError:
            answered = self._answers.find(key) if key is not None else None
            assert answered is not None  # noqa: S101 - its row is why we are here
            return answered

    def _store_batch(self, batch: Sequence[_Request]) -> Sequence[Accepted | None]:
        try:
            with self._database.session() as session:
                return self._store(session, batch)
        except (DatabaseUnavailableError, SQLAlchemyError) as error:
            # Each tries again for itself: one delivery must not cost the others.
            _log.warning("intake.one_by_one", deliveries=len(batch), reason=str(error)[:200])
            return [None] * len(batch)

    def _store(self, session: Session, batch: Sequence[_Request]) -> list[Accepted]:
        updates = TicketUpdates()
        tickets = self._take_alerts(session, batch, updates)
        answers = []
        for request in batch:
            delivery = request.delivery
            for alert in request.alerts:
                if (ticket_id := tickets[alert].id) != alert.ticket_id:
                    updates.relabel(ticket_id, alert.draft, context=request.context)
            ended = [self._end(session, over, updates) for over in delivery.resolved]
            commented = [self._comment(session, comment) for comment in delivery.comments]
            accepted = Accepted(
                tickets=(),
                rejected=delivery.rejected,
                ignored=(
                    *(event.reason for event in delivery.ignored),
                    *(_NO_TICKET for match in commented if match is None),
                ),
                unmatched_resolved=ended.count(None),
            )
            others = (ticket for ticket in (*ended, *commented) if ticket is not None)
            answers.append(
                accepted.with_tickets((*(tickets[alert] for alert in request.alerts), *others))
            )
        updates.write(session, self._outbox)
        return answers

    def _take_alerts(
        self, session: Session, batch: Sequence[_Request], updates: TicketUpdates
    ) -> dict[_Alert, AcceptedTicket]:
        """Claim the alerts; each new one is counted on the ticket that it repeats, or opens one."""
        first: dict[AlertKey, tuple[_Alert, Context]] = {}
        for request in batch:
            for alert in request.alerts:
                first.setdefault(alert.key, (alert, request.context))
        recent = self._recent_tickets(session, (alert.fingerprint for alert, _ in first.values()))
        self._database.lock(session, {key for each in batch for key in each.lock_keys(recent)})
        claimed_for = {
            key: recent[alert.fingerprint].ticket_id
            if alert.fingerprint in recent
            else alert.ticket_id
            for key, (alert, _) in first.items()
        }
        claims = self._alerts.claim_many(session, claimed_for)
        # From its insertion on no other transaction can claim an alert: this look stays true.
        unseen = {alert.fingerprint for key, (alert, _) in first.items() if not claims[key].ticket}
        recent |= self._recent_tickets(session, unseen - recent.keys())
        tickets: dict[AlertKey, NewTicket | Row[*tuple[Any, ...]]] = {}
        opened: list[NewTicket] = []
        repeats: dict[AlertKey, str] = {}
        for key, (alert, context) in first.items():
            claim, repeated = claims[key], recent.get(alert.fingerprint)
            if claim.ticket is not None:
                tickets[key] = claim.ticket
                is_after_end = claim.is_over and not alert.is_first_report
                ticket_id = claim.ticket.ticket_id
                updates.reopen(ticket_id, alert.draft, is_after_end=is_after_end, context=context)
            elif repeated is not None:
                tickets[key] = repeated
                repeats[key] = repeated.ticket_id
                if claimed_for[key] != repeated.ticket_id:
                    self._alerts.move(session, key, repeated.ticket_id)
                updates.repeat(repeated.ticket_id, is_open=not claim.is_over, context=context)
            else:
                new = NewTicket(
                    alert.draft, alert.ticket_id, alert.fingerprint, family(alert.draft), context
                )
                tickets[key] = new
                opened.append(new)
                if claim.is_over:
                    updates.end(new.ticket_id)
                if alert.fingerprint:
                    recent[alert.fingerprint] = new
        self._alerts.attach_to_tickets(session, repeats)
        if opened:
            open_tickets(session, self._outbox, opened)
        return {
            alert: acknowledge(
                tickets[alert.key],
                alert.draft,
                alert.draft.occurrence,
                created=tickets[alert.key].ticket_id == alert.ticket_id,
            )
            for request in batch
            for alert in request.alerts
        }

    def _recent_tickets(self, session: Session, prints: Iterable[str]) -> _Tickets:
        """Return the newest ticket of each fingerprint, if its last alert is recent."""
        wanted = {each for each in prints if each}
        if not wanted:
            return {}
        recent = TicketRow.last_at > time.time() - self._repeats_within_s
        statement = select(TicketRow.fingerprint, *COLUMNS).where(
            TicketRow.fingerprint.in_(wanted), recent
        )
        return {row.fingerprint: row for row in session.execute(statement.order_by(TicketRow.id))}

    def _end(
        self, session: Session, over: Resolution, updates: TicketUpdates
    ) -> AcceptedTicket | None:
        """Record that the fault is over; without a ticket, keep the end and return None."""
        for ticket_id in self._alerts.end(session, over):
            updates.end(ticket_id)
        match = self._alerts.find_ticket(session, over)
        if match is None:
            self._alerts.keep(session, over)
            return None
        ticket_id, occurrence = match
        ticket = read_tickets(session, [ticket_id])[ticket_id]
        return acknowledge(ticket, over, occurrence).model_copy(update={"resolved": True})

    def _comment(self, session: Session, comment: Comment) -> AcceptedTicket | None:
        """Store a comment once and queue its reading; return None if its ticket is unknown."""
        match = self._alerts.find_ticket(session, comment)
        if match is None:
            return None
        ticket_id, occurrence = match
        if add_comment(session, ticket_id, comment):
            arguments = {"ticket_id": ticket_id, "comment_id": comment.id}
            key = f"{READ_COMMENT_TASK}:{ticket_id}:{comment.id}"
            self._outbox.put(session, READ_COMMENT_TASK, arguments, key)
        return acknowledge(read_tickets(session, [ticket_id])[ticket_id], comment, occurrence)
