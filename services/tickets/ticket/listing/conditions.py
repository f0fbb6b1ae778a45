"""SQL conditions of ticket queries."""

import json
import time
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Text, cast, func, or_, select, true

from services.contracts.gateway import TicketQuery
from services.kit.access.caller import current_caller
from services.kit.ids import first_id_at
from services.tickets.tables import TicketRow, TicketTeamRow, TriageRow

KINDS = ("status", "fit", "resolved", "severity", "source", "service", "team")
"""Fields by which a list is filtered, beside text, time and holder."""

_TEXTS = (
    TicketRow.title,
    TicketRow.alert_name,
    TicketRow.external_id,
    TicketRow.service,
    TicketRow.description,
)
_LABELS = cast(TicketRow.labels, Text)

_ROUND_S = 60
"""Seconds to which the start of `within` is rounded down, so that equal queries are one."""

Conditions = tuple[ColumnElement[bool], ...]


class Columns(Protocol):
    """Columns of tickets, by their names: a table's or a statement's."""

    def __getitem__(self, name: str, /) -> ColumnElement[Any]:
        """Return the column of this name."""
        ...


def conditions(query: TicketQuery) -> Conditions:
    """Return all SQL conditions of a query."""
    columns: dict[str, ColumnElement[Any]] = {
        kind: getattr(TicketRow, kind) for kind in KINDS if hasattr(TicketRow, kind)
    }
    return search_conditions(query) + filter_conditions(query, columns | lookup_columns(query))


def lookup_columns(query: TicketQuery) -> dict[str, ColumnElement[bool]]:
    """Return the columns that are looked up rather than compared: resolution and team."""
    named = select(TicketTeamRow.ticket_id).where(TicketTeamRow.team.in_(query.team))
    assigned = select(TriageRow.ticket_id).where(TriageRow.team.in_(query.team))
    is_of_team = TicketRow.id.in_(named.union(assigned)) if query.team else true()
    return {"resolved": TicketRow.resolved_at.is_not(None), "team": is_of_team}


def search_conditions(query: TicketQuery) -> Conditions:
    """Return the conditions of text, time and holder alone."""
    since, until = time_range(query)
    clauses: Conditions = ()
    if since is not None:  # ids sort by time
        clauses += (TicketRow.id >= first_id_at(since),)
    if until is not None:
        clauses += (TicketRow.id < first_id_at(until),)
    if query.text:
        text = query.text.lower()
        in_json = json.dumps(text)[1:-1]  # as labels are stored
        holds = [func.lower(column).contains(text, autoescape=True) for column in _TEXTS]
        holds.append(func.lower(_LABELS).contains(in_json, autoescape=True))
        clauses += (or_(*holds),)
    match query.holder:
        case "":
            return clauses
        case "me":
            return (*clauses, TicketRow.holder_id == current_caller().lasting_id)
        case "nobody":
            return (*clauses, TicketRow.holder_id.is_(None))
        case holder:
            return (*clauses, TicketRow.holder == holder)


def filter_conditions(query: TicketQuery, columns: Columns, but: str = "") -> Conditions:
    """Return the conditions of the filters that are set, except for the kind `but`."""
    kinds = [kind for kind in KINDS if kind != but and getattr(query, kind) not in {(), None}]
    return tuple(_filter_condition(kind, getattr(query, kind), columns) for kind in kinds)


def time_range(query: TicketQuery) -> tuple[float | None, float | None]:
    """Return the query's start and end in seconds since the epoch; None if unbounded."""
    since = query.since.timestamp() if query.since else None
    until = query.until.timestamp() if query.until else None
    if query.within:
        begin = time.time() - query.within.seconds
        since = max(since or 0.0, begin - begin % _ROUND_S)
    return since, until


def _filter_condition(kind: str, chosen: Any, columns: Columns) -> ColumnElement[bool]:  # noqa: ANN401 - as the query has it
    match kind:
        case "resolved":
            return columns[kind] if chosen else ~columns[kind]
        case "team":
            return columns[kind]
        case _:
            return columns[kind].in_(chosen)
