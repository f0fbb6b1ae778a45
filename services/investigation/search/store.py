"""Searches and their events in SQL: each addition is one transaction with its audit and tasks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from services.contracts.searching import SearchOutcome, SearchPhase, SearchSummary
from services.execution import metrics
from services.execution.event_store import EventStore, StoredWork
from services.execution.leases import LeaseKind
from services.execution.tables import SearchEventRow, SearchRow
from services.investigation.search.events import AUDITED, Event, NewSearchEvent, SearchEventKind
from services.investigation.search.search import Search
from services.investigation.search.state import SearchState, state_of
from services.kit.errors import ConflictError, FlowXpertError, NotFoundError

SEARCH_TASK = "executor_model.search"
REPORT_TASK = "executor.report_search"


class SearchNotFoundError(NotFoundError):
    """Error of an unknown search id."""


class SearchMovedError(ConflictError):
    """Error of events that do not follow the latest one: load the search again."""


class LostSearchError(FlowXpertError):
    """Error of a worker whose lease another has now: what it would add is void."""


class SearchUnderWayError(ConflictError):
    """Error of a second search for a ticket while one is not over."""


@dataclass(frozen=True, kw_only=True)
class StoredSearch(StoredWork[Event, SearchState]):
    """A search with its events."""

    search: Search


class SearchStore(EventStore[SearchRow, Event, StoredSearch, SearchSummary]):
    """Store of the searches of one database."""

    kind = LeaseKind(
        "search",
        SearchRow,
        SEARCH_TASK,
        "search_id",
        SearchMovedError,
        LostSearchError,
        "executor.search_lost",
    )
    unknown = SearchNotFoundError
    row = SearchRow
    event_row = SearchEventRow
    event = Event
    audited = AUDITED
    audited_facts = ("tool", "target", "expert", "outcome")  # none says what a ticket is about
    report_task = REPORT_TASK

    def start(self, search: Search, at: float) -> None:
        """Store a search with its first event, and queue it.

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
        started = NewSearchEvent(SearchEventKind.STARTED, facts=facts, by=search.started_by)
        stored = StoredSearch(id=search.id, search=search, state=state_of(()))
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
            self._add(session, stored, [started], at, wakes=True)

    def _stored(self, row: SearchRow, events: Iterable[Event]) -> StoredSearch:
        events = tuple(events)
        return StoredSearch(
            id=row.id,
            search=Search.model_validate(row.search),
            events=events,
            state=state_of(events),
            waits_until=row.waits_until,
            waits_for=row.waits_for,
        )

    def _follow(self, stored: StoredSearch, events: Sequence[Event]) -> StoredSearch:
        events = (*stored.events, *events)
        return replace(stored, events=events, state=state_of(events))

    def _columns(
        self, _session: Session, stored: StoredSearch, added: Sequence[Event]
    ) -> dict[str, Any]:
        """Count questions and ends; the cause goes into lists."""
        state, columns = stored.state, {"waits_for": stored.state.silent_why}
        for event in added:
            if event.kind in _ANSWERS:
                metrics.SEARCH_QUESTIONS.labels(event.kind.value).inc()
            if event.kind in {SearchEventKind.ENDED, SearchEventKind.TAKEN_OVER}:
                metrics.SEARCHES.labels(str(state.outcome)).inc()
                columns["cause"] = state.answer.cause if state.answer else ""
        return columns

    def _summary(self, row: SearchRow) -> SearchSummary:
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


_ANSWERS = frozenset(
    {SearchEventKind.ANSWERED, SearchEventKind.NOT_ANSWERED, SearchEventKind.MISREAD}
)
