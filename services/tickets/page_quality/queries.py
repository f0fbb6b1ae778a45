"""Coverage: tickets that no procedure surely fits, by family of alerts."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, func, or_, select

from services.contracts.gateway import (
    Coverage,
    CoverageGroup,
    CoverageWeek,
    NearestPlace,
    TicketPage,
    TicketQuery,
)
from services.contracts.ticket import Fit, TicketStatus
from services.kit.ids import first_id_at
from services.kit.sql.database import Database
from services.tickets.tables import CitationRow, TicketRow, to_datetime
from services.tickets.ticket.listing.pages import TicketPages

WEEK_S = 7 * 86_400
_FIRST_MONDAY_S = 4 * 86_400
"""The epoch was a Thursday."""
MOST_GROUPS = 100

_OPEN = (TicketStatus.RECEIVED.value, TicketStatus.PLANNING.value)
IS_OVER = TicketRow.status.not_in((*_OPEN, TicketStatus.FAILED.value))
_IS_UNSURE = TicketRow.fit == Fit.UNSURE.value
IS_UNCOVERED: ColumnElement[bool] = or_(
    and_(IS_OVER, TicketRow.workflow_id.is_(None)), and_(IS_OVER, _IS_UNSURE)
)
"""SQL condition: nothing known surely fits the ticket. Broken walks are left out."""


class CoverageQueries:
    """Queries about the tickets of the last weeks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pages = TicketPages(database)

    def since(self, weeks: int, now: float | None = None) -> Coverage:
        """Return the coverage of the last whole weeks and this one."""
        mondays = mondays_until(time.time() if now is None else now, weeks)
        since = first_id_at(mondays[0])
        with self._database.session() as session:
            groups = session.execute(_groups(since)).all()
            ids = [row.latest for row in groups]
            columns = (TicketRow.id, TicketRow.title, TicketRow.alert_name, TicketRow.workflow_id)
            tickets_by_id = select(*columns).where(TicketRow.id.in_(ids))
            latest = {row.id: row for row in session.execute(tickets_by_id)}
            near = {(row.ticket_id, row.workflow_id): row for row in session.execute(_near(ids))}
            week_rows = session.execute(_weeks(mondays)).all()
        counted = {row.week: (row.tickets, row.sure) for row in week_rows}
        return Coverage(
            since=datetime.fromtimestamp(mondays[0], UTC),
            groups=tuple(_group(row, latest[row.latest], near) for row in groups),
            weeks=tuple(
                CoverageWeek(begins_at=to_datetime(monday), tickets=tickets, sure=sure)
                for place, monday in enumerate(mondays)
                for tickets, sure in (counted.get(place, (0, 0)),)
            ),
        )

    def tickets(self, family: str, *, cursor: str | None, limit: int) -> TicketPage:
        """Return uncovered tickets of a family, newest first."""
        mine = (TicketRow.family == family, IS_UNCOVERED)
        return self._pages.page(TicketQuery(cursor=cursor), size=limit, also=mine)


def mondays_until(now: float, weeks: int) -> list[float]:
    """Return when each of the last `weeks` weeks began, this one included, in epoch seconds."""
    this = now - (now - _FIRST_MONDAY_S) % WEEK_S
    return [this - WEEK_S * back for back in reversed(range(weeks))]


def _groups(since: str) -> Select[*tuple[Any, ...]]:
    tickets = func.count().label("tickets")
    return (
        select(
            TicketRow.family,
            tickets,
            func.sum(TicketRow.alerts).label("alerts"),
            func.count().filter(_IS_UNSURE).label("unsure"),
            func.count(TicketRow.resolved_at).label("resolved"),
            func.max(TicketRow.last_at).label("last_at"),
            func.max(TicketRow.id).label("latest"),
        )
        .where(TicketRow.id >= since, IS_UNCOVERED)
        .group_by(TicketRow.family)
        .order_by(tickets.desc(), func.max(TicketRow.id).desc())
        .limit(MOST_GROUPS)
    )


def _near(ids: Sequence[str]) -> Select[*tuple[Any, ...]]:
    """Select the lines that each of these tickets cites or came near, the nearest last."""
    return (
        select(
            CitationRow.ticket_id,
            CitationRow.workflow_id,
            CitationRow.document_id,
            CitationRow.start_line,
            CitationRow.end_line,
        )
        .where(CitationRow.ticket_id.in_(ids))
        .order_by(CitationRow.id.desc())
    )


def _weeks(mondays: Sequence[float]) -> Select[*tuple[Any, ...]]:
    begun = [(TicketRow.id >= first_id_at(each), place) for place, each in enumerate(mondays)]
    week = case(*reversed(begun)).label("week")
    is_sure = TicketRow.fit == Fit.SURE.value
    return (
        select(week, func.count().label("tickets"), func.count().filter(is_sure).label("sure"))
        .where(TicketRow.id >= first_id_at(mondays[0]), IS_OVER)
        .group_by("week")
    )


def _group(
    row: Row[*tuple[Any, ...]],
    latest: Row[*tuple[Any, ...]],
    near: Mapping[tuple[str, str | None], Row[*tuple[Any, ...]]],
) -> CoverageGroup:
    cited = near.get((latest.id, latest.workflow_id))
    nearest = cited and NearestPlace(
        document_id=cited.document_id, start_line=cited.start_line, end_line=cited.end_line
    )
    return CoverageGroup(
        family=row.family,
        name=latest.alert_name or latest.title,
        tickets=row.tickets,
        alerts=row.alerts,
        unsure=row.unsure,
        resolved=row.resolved,
        last_at=datetime.fromtimestamp(row.last_at, UTC),
        nearest=nearest,
    )
