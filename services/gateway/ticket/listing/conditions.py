"""What a query for tickets means in SQL."""

import json
import time
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Text, cast, func, or_, select, true

from services.contracts.gateway import TicketQuery
from services.gateway.tables import TicketRow, TicketTeamRow, TriageRow
from services.kit.access.caller import current_caller
from services.kit.ids import first_id_at

KINDS = ("status", "fit", "resolved", "severity", "source", "service", "team")
"""By what a list can be held to some tickets, beside text and time."""

_TEXTS = (
    TicketRow.title,
    TicketRow.alert_name,
    TicketRow.external_id,
    TicketRow.service,
    TicketRow.description,
)
_LABELS = cast(TicketRow.labels, Text)

_ROUND_S = 60
"""`within` begins at a whole minute, so that everybody who looks in it asks the same."""

Conditions = tuple[ColumnElement[bool], ...]


class Columns(Protocol):
    """Columns of tickets, by their names: a table's or a statement's."""

    def __getitem__(self, name: str, /) -> ColumnElement[Any]:
        """The column."""
        ...


def conditions(query: TicketQuery) -> Conditions:
    """All that must hold of a ticket."""
    columns: dict[str, ColumnElement[Any]] = {
        kind: getattr(TicketRow, kind) for kind in KINDS if hasattr(TicketRow, kind)
    }
    return found_by(query) + chosen_of(query, columns | told_of(query))


def told_of(query: TicketQuery) -> dict[str, ColumnElement[bool]]:
    """What is looked up rather than compared: whether it is over, and its teams."""
    named = select(TicketTeamRow.ticket_id).where(TicketTeamRow.team.in_(query.team))
    given = select(TriageRow.ticket_id).where(TriageRow.team.in_(query.team))
    is_of_team = TicketRow.id.in_(named.union(given)) if query.team else true()
    return {"resolved": TicketRow.resolved_at.is_not(None), "team": is_of_team}


def found_by(query: TicketQuery) -> Conditions:
    """Of text, time and holder alone."""
    since, until = times(query)
    found: Conditions = ()
    if since is not None:  # ids sort by time
        found += (TicketRow.id >= first_id_at(since),)
    if until is not None:
        found += (TicketRow.id < first_id_at(until),)
    if query.text:
        text = query.text.lower()
        in_json = json.dumps(text)[1:-1]  # as labels are stored
        holds = [func.lower(column).contains(text, autoescape=True) for column in _TEXTS]
        holds.append(func.lower(_LABELS).contains(in_json, autoescape=True))
        found += (or_(*holds),)
    return (*found, *_held_by(query.holder))


def _held_by(holder: str) -> Conditions:
    match holder:
        case "":
            return ()
        case "me":
            return (TicketRow.holder_id == current_caller().lasting_id,)
        case "nobody":
            return (TicketRow.holder_id.is_(None),)
        case _:
            return (TicketRow.holder == holder,)


def chosen_of(query: TicketQuery, columns: Columns, but: str = "") -> Conditions:
    """Of what is chosen, but for one kind."""
    kinds = [kind for kind in KINDS if kind != but and getattr(query, kind) not in {(), None}]
    return tuple(_one(kind, getattr(query, kind), columns) for kind in kinds)


def times(query: TicketQuery) -> tuple[float | None, float | None]:
    """From when to when, in seconds since the epoch."""
    since = query.since.timestamp() if query.since else None
    until = query.until.timestamp() if query.until else None
    if query.within:
        begin = time.time() - query.within.seconds
        since = max(since or 0.0, begin - begin % _ROUND_S)
    return since, until


def _one(kind: str, chosen: Any, columns: Columns) -> ColumnElement[bool]:  # noqa: ANN401 - as the query has it
    match kind:
        case "resolved":
            return columns[kind] if chosen else ~columns[kind]
        case "team":
            return columns[kind]
        case _:
            return columns[kind].in_(chosen)
