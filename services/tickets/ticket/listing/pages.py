"""Pages of ticket lists, in any sort order, by cursor."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, func, literal_column, or_, select

from services.contracts.gateway import Sort, TicketPage, TicketQuery, TicketSummary
from services.kit.errors import InvalidInputError
from services.kit.sql.database import Database
from services.tickets.tables import TicketRow, TriageRow, WorkflowRow, to_datetime
from services.tickets.ticket.listing.conditions import conditions
from services.tickets.ticket.severity import SEVERITIES

_UNKNOWN = 3
"""Rank of an unknown severity: after `warning`, before `low`."""
_RANKS = {severity: rank + (rank >= _UNKNOWN) for rank, severity in enumerate(SEVERITIES)}
_rank = case(
    *((TicketRow.severity == name, literal_column(str(rank))) for name, rank in _RANKS.items()),
    else_=literal_column(str(_UNKNOWN)),
)
_OF_OTHERS = {"team", "proposed"}
_COLUMNS = (
    *(getattr(TicketRow, name) for name in TicketSummary.model_fields if name not in _OF_OTHERS),
    TriageRow.team,
    func.coalesce(WorkflowRow.title, "").label("proposed"),
)
_TIMES = ("created_at", "updated_at", "resolved_at", "last_at", "held_at")


class InvalidCursorError(InvalidInputError):
    """The cursor belongs to a list in another order."""


class TicketPages:
    """Pages of tickets, read from a narrow index first and then row by row."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, query: TicketQuery, *, size: int, also: Sequence[ColumnElement[bool]] = ()
    ) -> TicketPage:
        """Return the tickets after the cursor; `also` adds conditions.

        Raises:
            InvalidCursorError: The cursor belongs to a list in another order.
        """
        with self._database.session() as session:
            rows = session.execute(_statement(query, size + 1, also)).all()
        tickets = tuple(map(_summary, rows[:size]))
        is_over = len(rows) <= size
        return TicketPage(
            tickets=tickets, next_cursor=None if is_over else _cursor(query.sort, tickets[-1])
        )


def _statement(
    query: TicketQuery, most: int, also: Sequence[ColumnElement[bool]]
) -> Select[*tuple[Any, ...]]:
    order = _order(query.sort)
    clauses = (*conditions(query), *_after_cursor(query), *also)
    wanted = select(TicketRow.id).where(*clauses).order_by(*order)
    ids = wanted.limit(most).subquery()
    return (
        select(*_COLUMNS)
        .join(ids, ids.c.id == TicketRow.id)
        .outerjoin(TriageRow, TriageRow.ticket_id == TicketRow.id)
        .outerjoin(WorkflowRow, WorkflowRow.id == TicketRow.workflow_id)
        .order_by(*order)
    )


def _order(sort: Sort) -> Sequence[ColumnElement[Any]]:
    match sort:
        case Sort.NEWEST:
            return (TicketRow.id.desc(),)
        case Sort.OLDEST:
            return (TicketRow.id.asc(),)
        case Sort.SEVERITY:
            return (_rank, TicketRow.id.desc())


def _after_cursor(query: TicketQuery) -> Sequence[ColumnElement[bool]]:
    if not query.cursor:
        return ()
    match query.sort:
        case Sort.NEWEST:
            return (TicketRow.id < query.cursor,)
        case Sort.OLDEST:
            return (TicketRow.id > query.cursor,)
        case Sort.SEVERITY:
            rank, last = _parse_cursor(query.cursor)
            return (or_(_rank > rank, and_(_rank == rank, TicketRow.id < last)),)


def _cursor(sort: Sort, last: TicketSummary) -> str:
    rank = _RANKS.get(last.severity, _UNKNOWN)
    return f"{rank}.{last.id}" if sort is Sort.SEVERITY else last.id


def _parse_cursor(cursor: str) -> tuple[int, str]:
    rank, _, last = cursor.partition(".")
    if rank not in set(map(str, range(len(_RANKS) + 1))) or not last:
        raise InvalidCursorError("the cursor is of a list in another order")
    return int(rank), last


def _summary(row: Row[*tuple[Any, ...]]) -> TicketSummary:
    times = {name: to_datetime(getattr(row, name)) for name in _TIMES}
    return TicketSummary(**dict(row._mapping) | times)
