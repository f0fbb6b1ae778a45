"""The short way in: alerts that are all counted on tickets that are there, or are all new.

Deliveries that come at the same moment are stored in one transaction, so that what a storm costs
hangs on the database's round trips and not on the number of alerts.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any

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

_Key = tuple[str, str, str]
_Answer = list[AcceptedTicket] | None
_KEY = tuple_(AlertRow.source, AlertRow.external_id, AlertRow.occurrence)


@dataclass(frozen=True)
class _Delivered:
    """The alerts of one request, and in whose name it stands."""

    drafts: Mapping[_Key, TicketDraft]
    prints: Mapping[_Key, str]
    """By which a repeat is known; empty for what is never one."""
    ids: Mapping[_Key, str]
    """Of the tickets that they are where they are new."""
    context: Context

    @property
    def marks(self) -> list[str]:
        """The fingerprints of those that may be repeats."""
        return [mark for mark in self.prints.values() if mark]

    @property
    def turns(self) -> set[str]:
        """What no other transaction may speak of at the same moment."""
        return {*self.marks, *("\n".join(key) for key in self.drafts)}


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
        ids = {_key(draft): (draft, id_) for draft, id_ in map(_named, delivery.tickets)}
        if len(ids) < len(delivery.tickets):
            return None
        drafts = {key: draft for key, (draft, _) in ids.items()}
        prints = dict(zip(drafts, map(fingerprint, delivery.tickets), strict=True))
        own = {key: id_ for key, (_, id_) in ids.items()}
        return self._group_commit.do(_Delivered(drafts, prints, own, copy_context()))

    def _take(self, batch: Sequence[_Delivered]) -> list[_Answer]:
        try:
            with self._database.session() as session:
                return self._counted(session, batch)
        except (DatabaseUnavailableError, SQLAlchemyError):  # the long way tells, each for itself
            return [None] * len(batch)

    def _counted(self, session: Session, batch: Sequence[_Delivered]) -> list[_Answer]:
        tickets = self._recent(session, {mark for each in batch for mark in each.marks})
        repeats = [each for each in batch if tickets.keys() >= set(each.prints.values())]
        opened = self._opened(
            session, [each for each in batch if tickets.keys().isdisjoint(each.marks)]
        )
        of_alert = {
            key: str(tickets[mark].id) for each in repeats for key, mark in each.prints.items()
        }
        new = self._add(session, of_alert)
        _end_earlier(session, new, of_alert)
        told = TicketUpdates()
        for each in repeats:
            for key in new.intersection(each.prints):
                told.repeat(of_alert[key], is_open=True, context=each.context)
                new.discard(key)
        told.write(session, self._outbox)
        owners = _owners(session, of_alert)
        answers: list[_Answer] = []
        for each in batch:
            if each in opened:
                answers.append(_received(each))
            else:
                answers.append(_known(each, owners) if each in repeats else None)
        return answers

    def _opened(self, session: Session, batch: Sequence[_Delivered]) -> list[_Delivered]:
        """Those of which nothing was known; their tickets are stored, their walks queued.

        Each alert is put down first: from then on no other transaction can do so, and what is known
        is known for sure.
        """
        alone = _apart(batch)
        self._database.take_turn(session, {name for each in alone for name in each.turns})
        ids = {key: id_ for each in alone for key, id_ in each.ids.items()}
        added = self._add(session, ids)
        known = self._recent(session, {mark for each in alone for mark in each.marks})
        new = [
            each
            for each in alone
            if added >= each.drafts.keys() and known.keys().isdisjoint(each.marks)
        ]
        kept = {key for each in new for key in each.ids}
        if added - kept:  # they go the long way
            mine = AlertRow.ticket_id.in_([ids[key] for key in added - kept])
            session.execute(delete(AlertRow).where(mine))
        open_tickets(
            session,
            self._outbox,
            [
                Opening(draft, each.ids[key], each.prints[key], family(draft), each.context)
                for each in new
                for key, draft in each.drafts.items()
            ],
        )
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
    """The answer of what is new."""
    return [received(draft, delivered.ids[key]) for key, draft in delivered.drafts.items()]


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
    if not owners.keys() >= delivered.drafts.keys():
        return None
    return [
        acknowledge(owners[key], draft, draft.occurrence) for key, draft in delivered.drafts.items()
    ]


def _named(draft: TicketDraft) -> tuple[TicketDraft, str]:
    """The draft with a name, which is that of its ticket where its source gave none."""
    ticket_id = time_ordered_id()
    if draft.external_id:
        return draft, ticket_id
    return draft.model_copy(update={"external_id": ticket_id}), ticket_id


def _key(draft: TicketDraft) -> _Key:
    return draft.source, draft.external_id, draft.occurrence
