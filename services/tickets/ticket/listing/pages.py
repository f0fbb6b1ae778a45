"""Pages of ticket lists, in any sort order, by cursor."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, literal_column, or_, select

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
_ORDERS: Mapping[Sort, Sequence[ColumnElement[Any]]] = {
    Sort.NEWEST: (TicketRow.id.desc(),),
    Sort.OLDEST: (TicketRow.id.asc(),),
    Sort.SEVERITY: (_rank, TicketRow.id.desc()),
}


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
        tickets = []
        for row in rows[:size]:
            times = {name: to_datetime(getattr(row, name)) for name in _TIMES}
            tickets.append(TicketSummary(**dict(row._mapping) | times))
        cursor = None
        if len(rows) > size:
            last = tickets[-1]
            rank = _RANKS.get(last.severity, _UNKNOWN)
            cursor = f"{rank}.{last.id}" if query.sort is Sort.SEVERITY else last.id
        return TicketPage(tickets=tuple(tickets), next_cursor=cursor)


def _statement(
    query: TicketQuery, most: int, also: Sequence[ColumnElement[bool]]
) -> Select[*tuple[Any, ...]]:
    order = _ORDERS[query.sort]
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


def _after_cursor(query: TicketQuery) -> Sequence[ColumnElement[bool]]:
    if not query.cursor:
        return ()
    match query.sort:
        case Sort.NEWEST:
            return (TicketRow.id < query.cursor,)
        case Sort.OLDEST:
            return (TicketRow.id > query.cursor,)
        case Sort.SEVERITY:
            rank, _, last = query.cursor.partition(".")
            if rank not in set(map(str, range(len(_RANKS) + 1))) or not last:
                raise InvalidCursorError("the cursor is of a list in another order")
            is_behind = and_(_rank == int(rank), TicketRow.id < last)
            return (or_(_rank > int(rank), is_behind),)
