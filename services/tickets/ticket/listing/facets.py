"""Counts of tickets for each value of a filter, under all other filters that are set."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import CTE, ColumnElement, Select, case, func, literal, select, union, union_all
from sqlalchemy.orm import Session

from services.contracts.gateway import TicketQuery
from services.kit.access.caller import current_caller
from services.kit.sql.database import Database
from services.tickets.tables import EventRow, TicketRow, TicketTeamRow, TriageRow
from services.tickets.ticket.listing.conditions import (
    KINDS,
    filter_conditions,
    lookup_columns,
    search_conditions,
    time_range,
)

MOST = 20_000
"""Most tickets that are counted, the newest that text and time allow: a page takes no longer
however many there are.
"""
_FRESH_S = 10.0
"""Seconds for which counts are served again, as long as no ticket has a new event."""
_KEPT = 100
"""Most queries whose counts are cached."""
_TOTAL = "total"


@dataclass(frozen=True)
class Counts:
    """Counts of tickets by kind of filter and value, and of those that pass all filters."""

    total: int
    of: Mapping[str, Mapping[str, int]]
    is_whole: bool
    """False if there are more tickets than are counted."""


@dataclass(frozen=True)
class _CachedCounts:
    counts: Counts
    latest: int
    until: float


class Facets:
    """Counts for queries, cached until a ticket has a new event.

    Safe to share between threads.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[tuple[object, ...], _CachedCounts] = {}

    def counts(self, query: TicketQuery) -> Counts:
        """Return the counts of a query: each kind's as if that kind were not filtered."""
        asks = current_caller().lasting_id if query.holder == "me" else ""
        key = (query.model_copy(update={"cursor": None, "limit": None}), *time_range(query), asks)
        with self._database.session() as session:
            latest = session.scalar(select(func.max(EventRow.id))) or 0
            seen = self._seen.get(key)
            if seen is None or seen.latest != latest or seen.until < self._clock():
                seen = _CachedCounts(_count_all(session, query), latest, self._clock() + _FRESH_S)
                with self._lock:
                    self._seen.pop(key, None)
                    self._seen[key] = seen
                    if len(self._seen) > _KEPT:
                        self._seen.pop(next(iter(self._seen)))
        return seen.counts


def _count_all(session: Session, query: TicketQuery) -> Counts:
    columns = (TicketRow.id, TicketRow.status, TicketRow.severity, TicketRow.source)
    looked_up = (column.label(name) for name, column in lookup_columns(query).items())
    matching = select(*columns, TicketRow.service, TicketRow.fit, *looked_up).where(
        *search_conditions(query)
    )
    # The tickets that text and time allow, shared by all kinds.
    tickets = matching.order_by(TicketRow.id.desc()).limit(MOST).cte("found")
    every = select(literal(_TOTAL), literal(""), func.count()).where(
        *filter_conditions(query, tickets.c)
    )
    size = select(literal("size"), literal(""), func.count()).select_from(tickets)
    parts = [
        every.select_from(tickets),
        size,
        *(_count_kind(kind, query, tickets) for kind in KINDS),
    ]
    of: dict[str, dict[str, int]] = {}
    for kind, value, count in session.execute(union_all(*parts)).tuples():
        of.setdefault(kind, {})[value] = count
    total, counted = of.pop(_TOTAL)[""], of.pop("size")[""]
    return Counts(total, {kind: of.get(kind, {}) for kind in KINDS}, is_whole=counted < MOST)


def _count_kind(kind: str, query: TicketQuery, tickets: CTE) -> Select[str, str, int]:
    others = filter_conditions(query, tickets.c, kind)
    if kind == "team":
        named = select(TicketTeamRow.ticket_id, TicketTeamRow.team)
        assigned = select(TriageRow.ticket_id, TriageRow.team).where(TriageRow.team.is_not(None))
        teams = union(named, assigned).subquery()
        counted = select(literal(kind), teams.c.team, func.count())
        joined = counted.select_from(tickets).join(teams, teams.c.ticket_id == tickets.c.id)
        return joined.where(*others).group_by(teams.c.team)
    column = tickets.c[kind]
    value: ColumnElement[str] = (
        case((column, "true"), else_="false") if kind == "resolved" else func.coalesce(column, "")
    )
    return select(literal(kind), value, func.count()).where(*others).group_by(value)
