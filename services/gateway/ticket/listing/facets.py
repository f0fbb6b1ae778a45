"""How many tickets there are of each kind, among those that fit everything else that is chosen."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import CTE, ColumnElement, Select, case, func, literal, select, union, union_all
from sqlalchemy.orm import Session

from services.contracts.gateway import TicketQuery
from services.gateway.tables import EventRow, TicketRow, TicketTeamRow, TriageRow
from services.gateway.ticket.listing.conditions import KINDS, chosen_of, found_by, times, told_of
from services.kit.access.caller import current_caller
from services.kit.sql.database import Database

MOST = 20_000
"""So many tickets are counted, the newest that text and time allow: a page takes no longer
however many there are."""
_FRESH_S = 10.0
"""Counts are made again when something happened to a ticket, and after so long in any case."""
_KEPT = 100
"""Queries whose counts are remembered."""
_TOTAL = "total"


@dataclass(frozen=True)
class Counts:
    """How many tickets have each value of each kind, and how many fit all that is chosen."""

    total: int
    of: Mapping[str, Mapping[str, int]]
    is_whole: bool
    """False when there are more tickets than are counted."""


@dataclass(frozen=True)
class _Seen:
    counts: Counts
    latest: int
    until: float


class Facets:
    """Counts for a query; what is asked again is counted once until something happens.

    Safe to share between threads.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[tuple[object, ...], _Seen] = {}

    def counts(self, query: TicketQuery) -> Counts:
        """Of each kind as if nothing were chosen in it; of the others, what is chosen holds."""
        asks = current_caller().lasting_id if query.holder == "me" else ""
        key = (query.model_copy(update={"cursor": None, "limit": None}), *times(query), asks)
        with self._database.session() as session:
            latest = session.scalar(select(func.max(EventRow.id))) or 0
            seen = self._seen.get(key)
            if seen is None or seen.latest != latest or seen.until < self._clock():
                seen = _Seen(_counted(session, query), latest, self._clock() + _FRESH_S)
                self._remember(key, seen)
        return seen.counts

    def _remember(self, key: tuple[object, ...], seen: _Seen) -> None:
        with self._lock:
            self._seen.pop(key, None)
            self._seen[key] = seen
            if len(self._seen) > _KEPT:
                self._seen.pop(next(iter(self._seen)))


def _counted(session: Session, query: TicketQuery) -> Counts:
    found = _found(query)
    every = select(literal(_TOTAL), literal(""), func.count()).where(*chosen_of(query, found.c))
    size = select(literal("size"), literal(""), func.count()).select_from(found)
    parts = [every.select_from(found), size, *(_of(kind, query, found) for kind in KINDS)]
    of: dict[str, dict[str, int]] = {}
    for kind, value, count in session.execute(union_all(*parts)).tuples():
        of.setdefault(kind, {})[value] = count
    total, counted = of.pop(_TOTAL)[""], of.pop("size")[""]
    return Counts(total, {kind: of.get(kind, {}) for kind in KINDS}, is_whole=counted < MOST)


def _found(query: TicketQuery) -> CTE:
    """What text and time find, looked up once for all kinds."""
    columns = (TicketRow.id, TicketRow.status, TicketRow.severity, TicketRow.source)
    told = (column.label(name) for name, column in told_of(query).items())
    wanted = select(*columns, TicketRow.service, TicketRow.fit, *told).where(*found_by(query))
    return wanted.order_by(TicketRow.id.desc()).limit(MOST).cte("found")


def _of(kind: str, query: TicketQuery, found: CTE) -> Select[str, str, int]:
    others = chosen_of(query, found.c, kind)
    if kind == "team":
        return _of_teams(found, others)
    value = _text(found, kind)
    return select(literal(kind), value, func.count()).where(*others).group_by(value)


def _text(found: CTE, kind: str) -> ColumnElement[str]:
    column = found.c[kind]
    if kind == "resolved":
        return case((column, "true"), else_="false")
    return func.coalesce(column, "")


def _of_teams(found: CTE, others: tuple[ColumnElement[bool], ...]) -> Select[str, str, int]:
    named = select(TicketTeamRow.ticket_id, TicketTeamRow.team)
    given = select(TriageRow.ticket_id, TriageRow.team).where(TriageRow.team.is_not(None))
    teams = union(named, given).subquery()
    counted = select(literal("team"), teams.c.team, func.count())
    joined = counted.select_from(found).join(teams, teams.c.ticket_id == found.c.id)
    return joined.where(*others).group_by(teams.c.team)
