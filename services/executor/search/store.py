"""Searches and their events in SQL: each addition is one transaction with its audit and tasks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from services.contracts.searching import SearchOutcome, SearchPhase, SearchSummary
from services.executor import metrics
from services.executor.driving import Driven, Driving
from services.executor.search.events import AUDITED, Event, Kind, NewEvent
from services.executor.search.search import Search
from services.executor.search.state import SearchState, state_of
from services.executor.tables import SearchEventRow, SearchRow
from services.kit.access.audit import add_audit
from services.kit.errors import ConflictError, FlowXpertError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.value import Value

SEARCH_TASK = "executor_model.search"
REPORT_TASK = "executor.report_search"


class SearchNotFoundError(NotFoundError):
    """There is no search of that id."""


class SearchMovedError(ConflictError):
    """Something else happened in the search meanwhile: look again."""


class LostSearchError(FlowXpertError):
    """Another worker drives the search now: what this one would add is void."""


class SearchUnderWayError(ConflictError):
    """The ticket has a search that is not over."""


_DRIVEN = Driven("search", SearchRow, SEARCH_TASK, "search_id", SearchMovedError, LostSearchError)


class StoredSearch(Value):
    """A search with its events."""

    search: Search
    events: tuple[Event, ...]
    waits_until: float | None = None
    waits_for: str = ""

    @property
    def state(self) -> SearchState:
        """How far it has come."""
        return state_of(self.events)


class SearchStore:
    """The searches of one database; safe to share between threads and processes."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox
        self.driving = Driving(database, outbox, _DRIVEN)

    # Reading

    def load(self, search_id: str) -> StoredSearch:
        """Raises `SearchNotFoundError`."""
        mine = SearchEventRow.search_id == search_id
        events = select(SearchEventRow).where(mine).order_by(SearchEventRow.seq)
        with self._database.session() as session:
            row = session.get(SearchRow, search_id)
            if row is None:
                raise SearchNotFoundError(f"there is no search {search_id!r}")
            return StoredSearch(
                search=Search.model_validate(row.search),
                events=tuple(_event(each) for each in session.scalars(events)),
                waits_until=row.waits_until,
                waits_for=row.waits_for,
            )

    def of_ticket(self, ticket_id: str, *, most: int = 50) -> list[SearchSummary]:
        """Its searches, the latest first."""
        mine = select(SearchRow).where(SearchRow.ticket_id == ticket_id)
        with self._database.session() as session:
            rows = session.scalars(mine.order_by(SearchRow.created_at.desc()).limit(most))
            return [_summary(row) for row in rows]

    def latest(self, *, most: int = 50) -> list[SearchSummary]:
        """Searches: those that are not over before the others, the latest first."""
        newest = (SearchRow.outcome.is_not(None), SearchRow.created_at.desc())
        with self._database.session() as session:
            rows = session.scalars(select(SearchRow).order_by(*newest).limit(most))
            return [_summary(row) for row in rows]

    # Writing

    def start(self, search: Search, at: float) -> None:
        """Keep a search with its first event, and have it driven.

        Raises:
            SearchUnderWayError: Its ticket has one that is not over.
        """
        row = SearchRow(
            id=search.id,
            ticket_id=search.ticket.id,
            search=search.model_dump(mode="json"),
            phase=SearchPhase.SEARCHING.value,
            outcome=None,
            waits_until=None,
            waits_for="",
            created_at=at,
            ended_at=None,
        )
        facts = {"experts": [expert.name for expert in search.experts]}
        under_way = select(SearchRow.id).where(
            SearchRow.ticket_id == search.ticket.id, SearchRow.outcome.is_(None)
        )
        with self._database.session() as session:
            if (other := session.scalar(under_way.limit(1))) is not None:
                raise SearchUnderWayError(f"the search {other} of this ticket is not over")
            session.add(row)
            try:
                session.flush()
            except IntegrityError as error:  # of two who start at once
                raise SearchUnderWayError("another search of this ticket is not over") from error
            started = [NewEvent(Kind.STARTED, facts=facts, by=search.started_by)]
            self._add(session, search, 0, started, at)

    def append(
        self,
        stored: StoredSearch,
        events: Sequence[NewEvent],
        at: float,
        *,
        driver: str | None = None,
    ) -> None:
        """Add what follows from the events that `stored` has.

        Raises:
            SearchMovedError: It has others by now.
            LostSearchError: `driver` does not drive it any more.
        """
        last = stored.events[-1].seq if stored.events else 0
        with self._database.session() as session:
            self.driving.fence(session, stored.search.id, driver)
            self._add(session, stored.search, last, events, at, wakes=driver is None)

    def record(
        self,
        search: Search,
        event: NewEvent,
        at: float,
        *,
        driver: str,
        gives_back: bool = False,
    ) -> None:
        """Add what the model answered or a tool told, whatever people did meanwhile.

        `gives_back`: the driver leaves it to whoever comes next.

        Raises:
            LostSearchError: `driver` does not drive it any more: who does has asked anew.
        """
        mine = SearchEventRow.search_id == search.id
        newest = select(func.max(SearchEventRow.seq)).where(mine)
        while True:
            try:
                with self._database.session() as session:
                    self.driving.fence(session, search.id, driver)
                    last = session.scalar(newest) or 0
                    self._add(session, search, last, [event], at, wakes=False)
                    if gives_back:
                        self.driving.give_back(session, search.id, str(last + 1))
            except SearchMovedError:
                continue
            return

    def _add(
        self,
        session: Session,
        search: Search,
        after: int,
        events: Sequence[NewEvent],
        at: float,
        *,
        wakes: bool = True,
    ) -> None:
        rows = [
            SearchEventRow(
                search_id=search.id,
                seq=seq,
                kind=event.kind.value,
                at=at,
                by=event.by,
                node=event.node,
                facts=dict(event.facts),
            )
            for seq, event in enumerate(events, after + 1)
        ]
        for event in events:
            if event.kind in AUDITED:
                told = {k: event.facts[k] for k in _TOLD if k in event.facts}
                add_audit(session, f"search.{event.kind.value}", f"search {search.id}", after=told)
        self.driving.add(session, search.id, rows)
        self._follow(session, search, events, at)
        if wakes:
            self.driving.wake(session, search.id, str(after + len(events)))

    def _follow(
        self, session: Session, search: Search, events: Sequence[NewEvent], at: float
    ) -> None:
        """The row and the report follow from the events."""
        mine = SearchEventRow.search_id == search.id
        rows = select(SearchEventRow).where(mine).order_by(SearchEventRow.seq)
        state = state_of(_event(row) for row in session.scalars(rows))
        values: dict[str, Any] = {
            "phase": state.phase.value,
            "waits_until": None,
            "waits_for": state.silent_why,
        }
        for event in events:
            if event.kind in {Kind.ANSWERED, Kind.NOT_ANSWERED, Kind.MISREAD}:
                metrics.SEARCH_QUESTIONS.labels(event.kind.value).inc()
        if state.outcome is not None and any(event.kind in _ENDS for event in events):
            cause = state.answer.cause if state.answer else ""
            values |= {"outcome": state.outcome.value, "ended_at": at, "waits_for": state.why}
            values |= {"cause": cause}
            key = f"{REPORT_TASK}:{search.id}"
            self._outbox.put(session, REPORT_TASK, {"search_id": search.id}, key)
            metrics.SEARCHES.labels(state.outcome.value).inc()
        elif state.outcome is not None:
            values |= {"waits_for": state.why}
        session.execute(update(SearchRow).where(SearchRow.id == search.id).values(values))


_ENDS = frozenset({Kind.ENDED, Kind.TAKEN_OVER})
_TOLD = ("tool", "target", "expert", "outcome")
"""Of an event's facts, in the audit log: nothing that says what a ticket is about."""


def _summary(row: SearchRow) -> SearchSummary:
    search = row.search
    return SearchSummary(
        id=row.id,
        ticket_id=row.ticket_id,
        ticket_title=search["ticket"]["title"],
        phase=SearchPhase(row.phase),
        outcome=SearchOutcome(row.outcome) if row.outcome else None,
        why=row.waits_for,
        cause=row.cause,
        started_by=search["started_by"],
        started_at=datetime.fromisoformat(search["started_at"]),
    )


def _event(row: SearchEventRow) -> Event:
    return Event(
        seq=row.seq, kind=Kind(row.kind), at=row.at, by=row.by, node=row.node, facts=row.facts
    )
