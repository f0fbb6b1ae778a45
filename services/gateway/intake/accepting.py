"""Intake: a delivery becomes stored tickets, each with its walk queued, in one transaction."""

import time
from collections.abc import Iterator, Sequence
from contextvars import copy_context

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.gateway import Accepted, AcceptedTicket
from services.contracts.ticket import TicketDraft
from services.gateway.intake.acknowledgement import COLUMNS, acknowledge, received
from services.gateway.intake.alerts import Alerts
from services.gateway.intake.arrivals import Arrivals
from services.gateway.intake.fingerprints import family, fingerprint
from services.gateway.intake.idempotency import Answers, DeliveryKey, KeyTakenError
from services.gateway.sources.delivery import Delivery, Resolution
from services.gateway.tables import TicketRow
from services.gateway.ticket.comments import Comment, add_comment
from services.gateway.ticket.lifecycle import Opening, open_tickets
from services.gateway.ticket.queue import READ_COMMENT_TASK
from services.gateway.ticket.updates import TicketUpdates
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database

_NO_TICKET = "a comment on a ticket that is not known here"


class Intake:
    """Stores deliveries. Of two equal ones, even at the same moment, one makes the ticket.

    One fault that is told of again and again, by one source, is one ticket with a count.
    """

    def __init__(self, database: Database, outbox: Outbox, *, repeats_within_s: float) -> None:
        """An alert is a repeat when the last one of its kind came so many seconds ago at most."""
        self._database = database
        self._outbox = outbox
        self._repeats_within_s = repeats_within_s
        self._alerts = Alerts(database)
        self._answers = Answers(database)
        self._arrivals = Arrivals(database, outbox, within_s=repeats_within_s)

    def accept(self, delivery: Delivery, key: DeliveryKey | None = None) -> Accepted:
        """Store the delivery; when this returns, all of it is committed.

        Raises:
            IdempotencyKeyReusedError: The key came before with another body.
        """
        if key is None:
            tickets = self._arrivals.take(delivery)
            if tickets is not None:
                return _answer(delivery, tickets)
            with self._database.session() as session:
                return self._store(session, delivery)
        return self._answers.find(key) or self._accept_once(delivery, key)

    def _accept_once(self, delivery: Delivery, key: DeliveryKey) -> Accepted:
        try:
            with self._database.session() as session:
                accepted = self._store(session, delivery)
                self._answers.keep(session, key, accepted)
                return accepted
        except KeyTakenError:
            answered = self._answers.find(key)
            assert answered is not None  # noqa: S101 - its row is why we are here
            return answered

    def _store(self, session: Session, delivery: Delivery) -> Accepted:
        self._take_turns(session, delivery)
        told = TicketUpdates()
        tickets = [self._ticket(session, draft, told) for draft in delivery.tickets]
        ended = [self._end(session, over, told) for over in delivery.resolved]
        commented = [self._comment(session, said) for said in delivery.comments]
        tickets += [ticket for ticket in (*ended, *commented) if ticket is not None]
        told.write(session, self._outbox)
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

    def _take_turns(self, session: Session, delivery: Delivery) -> None:
        """Let wait who speaks of the same things. A storm that is on its ticket needs no turns."""
        prints = {mark for draft in delivery.tickets if (mark := fingerprint(draft))}
        names = [*_names(delivery), *prints.difference(self._on_tickets(session, prints))]
        self._database.take_turn(session, names)

    def _on_tickets(self, session: Session, prints: set[str]) -> set[str]:
        recent = TicketRow.last_at > time.time() - self._repeats_within_s
        found = select(TicketRow.fingerprint).where(TicketRow.fingerprint.in_(prints), recent)
        return set(session.scalars(found)) if prints else set()

    def _ticket(self, session: Session, draft: TicketDraft, told: TicketUpdates) -> AcceptedTicket:
        """The alert's ticket: the one it made before, the one it repeats, or a new one."""
        ticket_id = time_ordered_id()
        named = draft.model_copy(update={"external_id": draft.external_id or ticket_id})
        claimed = self._alerts.claim(session, named, ticket_id)
        if not claimed.is_new:
            return _known(session, named, claimed.ticket_id, named.occurrence)
        mark = fingerprint(draft)
        if claimed.is_over:
            told.end(claimed.ticket_id)
        repeated = self._repeated(session, mark)
        if repeated:
            self._alerts.count_on(session, named, repeated)
            told.repeat(repeated, is_open=not claimed.is_over)
            return _known(session, named, repeated, named.occurrence)
        opened = Opening(named, ticket_id, mark, family(named), copy_context())
        open_tickets(session, self._outbox, [opened])
        return received(named, ticket_id)

    def _repeated(self, session: Session, mark: str) -> str | None:
        """The ticket of the same fault, when the last word of it is recent."""
        if not mark:
            return None
        recent = TicketRow.last_at > time.time() - self._repeats_within_s
        same = select(TicketRow.id).where(TicketRow.fingerprint == mark, recent)
        return session.scalar(same.order_by(TicketRow.id.desc()).limit(1))

    def _end(
        self, session: Session, over: Resolution, told: TicketUpdates
    ) -> AcceptedTicket | None:
        """Note that the fault is over; kept, and None, when there is no ticket."""
        for ticket_id in self._alerts.end(session, over):
            told.end(ticket_id)
        found = self._alerts.ticket_of(session, over)
        if found is None:
            self._alerts.keep(session, over)
            return None
        ticket_id, occurrence = found
        ended = _known(session, over, ticket_id, occurrence)
        return ended.model_copy(update={"resolved": True})

    def _comment(self, session: Session, said: Comment) -> AcceptedTicket | None:
        """Keep what was said about a ticket, once, to be read; None where it is not known here."""
        found = self._alerts.ticket_of(session, said)
        if found is None:
            return None
        ticket_id, occurrence = found
        if add_comment(session, ticket_id, said):
            arguments = {"ticket_id": ticket_id, "comment_id": said.id}
            key = f"{READ_COMMENT_TASK}:{ticket_id}:{said.id}"
            self._outbox.put(session, READ_COMMENT_TASK, arguments, key)
        return _known(session, said, ticket_id, occurrence)


def _answer(delivery: Delivery, tickets: Sequence[AcceptedTicket]) -> Accepted:
    """To a delivery of alerts alone."""
    ignored = tuple(event.reason for event in delivery.ignored)
    answer = Accepted(tickets=(), rejected=delivery.rejected, ignored=ignored)
    return answer.of(tuple(tickets))


def _names(delivery: Delivery) -> Iterator[str]:
    """A name for each item that another request may speak of at the same moment."""
    both: tuple[TicketDraft | Resolution, ...] = (*delivery.tickets, *delivery.resolved)
    for item in both:
        if item.external_id:
            yield "\n".join((item.source, item.external_id, item.occurrence))


def _known(
    session: Session, told: TicketDraft | Resolution | Comment, ticket_id: str, occurrence: str
) -> AcceptedTicket:
    of_ticket = select(*COLUMNS).where(TicketRow.id == ticket_id)
    return acknowledge(session.execute(of_ticket).one(), told, occurrence)
