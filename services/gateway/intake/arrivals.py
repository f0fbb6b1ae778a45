"""The short way in: alerts that are all counted on tickets that are there, or are all new.

Deliveries that come at the same moment are stored in one transaction, so that what a storm costs
hangs on the database's round trips and not on the number of alerts.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any, NamedTuple

import structlog
from sqlalchemy import Row, delete, select, tuple_, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from services.contracts.gateway import AcceptedTicket
from services.contracts.ticket import TicketDraft
from services.gateway.intake.acknowledgement import COLUMNS, acknowledge, received
from services.gateway.intake.fingerprints import family, fingerprint
from services.gateway.sources.delivery import Delivery
from services.gateway.tables import AlertRow, TicketRow
from services.gateway.ticket.lifecycle import Opening, open_tickets
from services.gateway.ticket.updates import TicketUpdates
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database, DatabaseUnavailableError
from services.kit.sql.group_commit import GroupCommit

_log = structlog.get_logger()

_Key = tuple[str, str, str]
_Answer = list[AcceptedTicket] | None
_KEY = tuple_(AlertRow.source, AlertRow.external_id, AlertRow.occurrence)


class _Alert(NamedTuple):
    """One alert of a delivery."""

    draft: TicketDraft
    mark: str
    """Its fingerprint, by which a repeat is known; empty for what is never one."""
    ticket_id: str
    """Of the ticket that it is where it is new."""


@dataclass(frozen=True, eq=False)
class _Delivered:
    """The alerts of one request, and in whose name it stands."""

    alerts: Mapping[_Key, _Alert]
    context: Context

    @property
    def marks(self) -> list[str]:
        """The fingerprints of those that may be repeats."""
        return [each.mark for each in self.alerts.values() if each.mark]

    @property
    def turns(self) -> set[str]:
        """What no other transaction may speak of at the same moment."""
        return {*self.marks, *("\n".join(key) for key in self.alerts)}


class Arrivals:
    """Counts repeats and opens tickets; what is neither goes the long way."""

    def __init__(self, database: Database, outbox: Outbox, *, within_s: float) -> None:
        """An alert is a repeat when the last of its kind came so many seconds ago at most."""
        self._database = database
        self._outbox = outbox
        self._within_s = within_s
        self._group_commit: GroupCommit[_Delivered, _Answer] = GroupCommit(self._take)

    def take(self, delivery: Delivery) -> _Answer:
        """The alerts' tickets; None where one of them may need more than that.

        Some of them may be counted already then: to come again changes nothing.
        """
        if delivery.resolved or delivery.comments or not delivery.tickets:
            return None
        alerts = {_key(each.draft): each for each in map(_alert, delivery.tickets)}
        if len(alerts) < len(delivery.tickets):
            return None
        return self._group_commit.do(_Delivered(alerts, copy_context()))

    def _take(self, batch: Sequence[_Delivered]) -> list[_Answer]:
        try:
            with self._database.session() as session:
                return self._counted(session, batch)
        except (DatabaseUnavailableError, SQLAlchemyError) as error:
            # The long way tells, each for itself: one delivery must not cost the others.
            _log.warning("intake.one_by_one", deliveries=len(batch), reason=str(error)[:200])
            return [None] * len(batch)

    def _counted(self, session: Session, batch: Sequence[_Delivered]) -> list[_Answer]:
        tickets = self._recent(session, {mark for each in batch for mark in each.marks})
        repeats = [e for e in batch if all(a.mark in tickets for a in e.alerts.values())]
        opened = self._opened(session, [e for e in batch if tickets.keys().isdisjoint(e.marks)])
        of_alert = {
            key: str(tickets[alert.mark].id)
            for each in repeats
            for key, alert in each.alerts.items()
        }
        new = self._add(session, of_alert)
        _end_earlier(session, new, of_alert)
        told = TicketUpdates()
        for each in repeats:
            for key in new.intersection(each.alerts):
                told.repeat(of_alert[key], is_open=True, context=each.context)
                new.discard(key)
        told.write(session, self._outbox)
        owners = _owners(session, of_alert)
        answers = {each: _known(each, owners) for each in repeats}
        answers |= {each: _received(each) for each in opened}
        return [answers.get(each) for each in batch]

    def _opened(self, session: Session, batch: Sequence[_Delivered]) -> list[_Delivered]:
        """Those of which nothing was known; their tickets are stored, their walks queued.

        Each alert is put down first: from then on no other transaction can do so, and what is known
        is known for sure.
        """
        alone = _apart(batch)
        if not alone:
            return []
        self._database.take_turn(session, {name for each in alone for name in each.turns})
        ids = {key: alert.ticket_id for each in alone for key, alert in each.alerts.items()}
        added = self._add(session, ids)
        known = self._recent(session, {mark for each in alone for mark in each.marks})
        new = [
            each
            for each in alone
            if added >= each.alerts.keys() and known.keys().isdisjoint(each.marks)
        ]
        others = added.difference(*(each.alerts for each in new))
        if others:  # they go the long way
            theirs = AlertRow.ticket_id.in_([ids[key] for key in others])
            session.execute(delete(AlertRow).where(theirs))
        opened = [
            Opening(draft, ticket_id, mark, family(draft), each.context)
            for each in new
            for draft, mark, ticket_id in each.alerts.values()
        ]
        if opened:
            open_tickets(session, self._outbox, opened)
        return new

    def _recent(self, session: Session, prints: set[str]) -> dict[str, Row[*tuple[Any, ...]]]:
        """The newest ticket of each of these, where the last word of it is recent."""
        recent = TicketRow.last_at > time.time() - self._within_s
        found = select(TicketRow.fingerprint, TicketRow.id).where(
            TicketRow.fingerprint.in_(prints), recent
        )
        return {row.fingerprint: row for row in session.execute(found.order_by(TicketRow.id))}

    def _add(self, session: Session, of_alert: Mapping[_Key, str]) -> set[_Key]:
        """Those that were not there."""
        if not of_alert:
            return set()
        now = time.time()
        rows = [
            {
                "source": key[0],
                "external_id": key[1],
                "occurrence": key[2],
                "ticket_id": ticket_id,
                "came_at": now,
                "over_at": None,
            }
            for key, ticket_id in sorted(of_alert.items())
        ]
        insert = self._database.insert(AlertRow).on_conflict_do_nothing()
        columns = (AlertRow.source, AlertRow.external_id, AlertRow.occurrence)
        added = session.execute(insert.values(rows).returning(*columns))
        return {(row.source, row.external_id, row.occurrence) for row in added}


def _apart(batch: Sequence[_Delivered]) -> list[_Delivered]:
    """Those that speak of nothing that one before them speaks of, nor twice of one thing."""
    spoken: set[str] = set()
    found = []
    for each in batch:
        is_once = len(set(each.marks)) == len(each.marks)
        if is_once and spoken.isdisjoint(each.turns):
            found.append(each)
        spoken |= each.turns
    return found


def _received(delivered: _Delivered) -> list[AcceptedTicket]:
    return [received(each.draft, each.ticket_id) for each in delivered.alerts.values()]


def _end_earlier(session: Session, new: Iterable[_Key], of_alert: Mapping[_Key, str]) -> None:
    """A source that says it broke again says too that the times before are over."""
    again = [key for key in new if key[2]]
    if not again:
        return
    ids = tuple_(AlertRow.source, AlertRow.external_id).in_([key[:2] for key in again])
    of_tickets = AlertRow.ticket_id.in_({of_alert[key] for key in again})
    earlier = (ids, of_tickets, _KEY.not_in(again), AlertRow.over_at.is_(None))
    session.execute(update(AlertRow).where(*earlier).values(over_at=time.time()))


def _owners(session: Session, of_alert: Mapping[_Key, str]) -> dict[_Key, Row[*tuple[Any, ...]]]:
    """The ticket of each alert, its status and its reason; an end that came first has none."""
    if not of_alert:
        return {}
    columns = (AlertRow.source, AlertRow.external_id, AlertRow.occurrence)
    found = (
        select(*columns, *COLUMNS)
        .join(TicketRow, TicketRow.id == AlertRow.ticket_id)
        .where(_KEY.in_(list(of_alert)))
    )
    return {(row.source, row.external_id, row.occurrence): row for row in session.execute(found)}


def _known(delivered: _Delivered, owners: Mapping[_Key, Row[*tuple[Any, ...]]]) -> _Answer:
    if not owners.keys() >= delivered.alerts.keys():
        return None
    return [
        acknowledge(owners[key], each.draft, each.draft.occurrence)
        for key, each in delivered.alerts.items()
    ]


def _alert(draft: TicketDraft) -> _Alert:
    """Named as its ticket is where its source gave it no name."""
    ticket_id = time_ordered_id()
    named = draft.model_copy(update={"external_id": draft.external_id or ticket_id})
    return _Alert(named, fingerprint(draft), ticket_id)


def _key(draft: TicketDraft) -> _Key:
    return draft.source, draft.external_id, draft.occurrence
