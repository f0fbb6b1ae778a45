"""The list of tickets, with its filters and orders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import field_validator

from services.contracts.gateway import Sort, TicketQuery, Within
from services.contracts.ticket import Fit, TicketStatus
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.tickets.service import TicketService
from services.tickets.ticket.listing.conditions import KINDS
from services.tickets.ticket.listing.facets import Counts
from services.tickets.ticket.listing.pages import InvalidCursorError
from services.tickets.ticket.severity import SEVERITIES
from services.web.ui.templates import render, render_refusal


class ListQuery(TicketQuery):
    """A `TicketQuery` with the defaults of the list."""

    resolved: bool | None = False
    sort: Sort = Sort.SEVERITY

    @field_validator("resolved", mode="before")
    @classmethod
    def _read_any(cls, value: Any) -> Any:  # noqa: ANN401 - as an address says it
        return None if value == ANY else value


def create_list_page(tickets: TicketService) -> APIRouter:
    """Build the router of the ticket list."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    @needs(Need.READ)
    def tickets_page(query: Annotated[ListQuery, Query()]) -> HTMLResponse:
        """Show the tickets that the address asks for, beside all available filters."""
        try:
            page = tickets.tickets(query)
        except InvalidCursorError as error:
            return render_refusal(error)
        counts = tickets.facets.counts(query)
        return render(
            "tickets/list.html",
            query=query,
            page=page,
            counts=counts,
            groups=filter_groups(query, counts),
            sorts=[
                FilterChoice(label, list_address(query, sort=sort), query.sort is sort)
                for sort, label in _SORTS.items()
            ],
            chosen=active_filters(query),
            also_over=list_address(query, resolved=None),
            here=list_address(query, cursor=query.cursor) if query.cursor else list_address(query),
            may_operate=current_caller().may(Scope.OPERATE),
            hidden=query_fields(query, "text", "cursor"),
            older=list_address(query, cursor=page.next_cursor) if page.next_cursor else None,
        )

    return router


SHOWN = 8
"""Values of a group that are shown at once; the others open on request, up to `MOST`."""
MOST = 60

_WITHIN = {
    Within.HOUR: "Last hour",
    Within.SIX_HOURS: "6 hours",
    Within.DAY: "24 hours",
    Within.WEEK: "7 days",
    Within.MONTH: "30 days",
}
_SORTS = {Sort.SEVERITY: "Worst first", Sort.NEWEST: "Newest", Sort.OLDEST: "Oldest"}
_GROUPS = {"severity": "Severity", "team": "Team", "service": "Service", "source": "Source"}
_OVER = {False: "Open", True: "Over", None: "All"}


@dataclass(frozen=True)
class FilterChoice:
    """One value of a filter; its address sets the value, or removes it."""

    label: str
    address: str
    is_chosen: bool
    count: int | None = None


@dataclass(frozen=True)
class FilterGroup:
    """The values of one filter."""

    name: str
    title: str
    choices: Sequence[FilterChoice]
    others: Sequence[FilterChoice] = ()
    """Choices that are shown on request."""
    left_out: int = 0


def list_address(query: ListQuery, **changes: Any) -> str:  # noqa: ANN401 - values of a query
    """Return the address of the list for a query with changes; its first page, but for `cursor`."""
    pairs = query_fields(query.model_copy(update=changes), "cursor")
    pairs += [("cursor", changes["cursor"])] if "cursor" in changes else []
    return f"/?{urlencode(pairs)}" if pairs else "/"


def query_fields(query: ListQuery, *left_out: str) -> list[tuple[str, str]]:
    """Return the query as pairs of name and value, as a form or an address holds them."""
    parameters = query.model_dump(mode="json", exclude_defaults=True, exclude=set(left_out))
    return [
        (name, _text(value))
        for name, values in parameters.items()
        for value in (values if isinstance(values, list) else [values])
    ]


def filter_groups(query: ListQuery, counts: Counts) -> list[FilterGroup]:
    """Return all filters with choices, the most useful first."""
    words = {"me": "Mine", "nobody": "Nobody’s"}
    words |= {query.holder: query.holder} if query.holder and query.holder not in words else {}
    choices = []
    for holder, label in words.items():
        is_chosen = query.holder == holder
        to = list_address(query, holder="" if is_chosen else holder)
        choices.append(FilterChoice(label, to, is_chosen))
    times = [
        FilterChoice(
            label,
            list_address(query, within=None if query.within is within else within),
            query.within is within,
        )
        for within, label in _WITHIN.items()
    ]
    filters = [
        _resolved_group(query, counts.of["resolved"]),
        FilterGroup("holder", "Taken", choices),
        _state_group(query, counts),
        *(_group(query, name, title, counts.of[name]) for name, title in _GROUPS.items()),
        FilterGroup("within", "Came in", times),
    ]
    return [group for group in filters if group.choices]


def active_filters(query: ListQuery) -> list[FilterChoice]:
    """Return the active filters of the list; the address of each removes it."""
    choices = [
        each
        for group in filter_groups(query, _NOTHING)
        for each in group.choices
        if each.is_chosen and group.name != "resolved"
    ]
    if query.resolved is not False:
        label = _OVER[query.resolved]
        choices.append(FilterChoice(label, list_address(query, resolved=False), is_chosen=True))
    if query.text:
        choices.append(
            FilterChoice(f"“{query.text}”", list_address(query, text=""), is_chosen=True)
        )
    if query.since or query.until:
        label = f"{query.since or 'the beginning'} to {query.until or 'now'}"
        choices.append(
            FilterChoice(label, list_address(query, since=None, until=None), is_chosen=True)
        )
    return choices


def _resolved_group(query: ListQuery, counts: Mapping[str, int]) -> FilterGroup:
    count = {False: counts.get("false", 0), True: counts.get("true", 0), None: sum(counts.values())}
    choices = [
        FilterChoice(
            label, list_address(query, resolved=value), query.resolved is value, count[value]
        )
        for value, label in _OVER.items()
    ]
    return FilterGroup("resolved", "Fault", choices)


def _state_group(query: ListQuery, counts: Counts) -> FilterGroup:
    count_by_status = counts.of["status"]
    choices = [
        _choice(
            query,
            "status",
            status,
            status.value.replace("_", " ").capitalize(),
            count_by_status.get(status.value, 0),
        )
        for status in TicketStatus
    ]
    unsure = counts.of["fit"].get(Fit.UNSURE.value, 0)
    choices.append(_choice(query, "fit", Fit.UNSURE, "Closest page, not sure", unsure))
    return FilterGroup("state", "State", [each for each in choices if each.count or each.is_chosen])


def _group(query: ListQuery, name: str, title: str, counts: Mapping[str, int]) -> FilterGroup:
    selected: tuple[str, ...] = getattr(query, name)

    def rank(value: str) -> tuple[object, ...]:
        """Return the sort key: severities by rank; else active ones first, then by count."""
        if name == "severity" and value in SEVERITIES:
            return (False, SEVERITIES.index(value), 0, value)
        return (value not in selected, len(SEVERITIES), -counts.get(value, 0), value)

    values = sorted({*counts, *selected}, key=rank)
    choices = [
        _choice(query, name, value, value or "none", counts.get(value, 0)) for value in values
    ]
    shown = max(SHOWN, len(selected))
    left_out = max(0, len(choices) - MOST)
    return FilterGroup(name, title, choices[:shown], choices[shown:MOST], left_out)


def _choice(query: ListQuery, name: str, value: str, label: str, count: int) -> FilterChoice:
    selected: tuple[str, ...] = getattr(query, name)
    is_chosen = value in selected
    left = tuple(each for each in selected if each != value) if is_chosen else (*selected, value)
    return FilterChoice(label, list_address(query, **{name: left}), is_chosen, count)


def _text(value: object) -> str:
    if value is None:  # of all that may be None, only `resolved` is something else by default
        return ANY
    return str(value).lower() if isinstance(value, bool) else str(value)


_NOTHING = Counts(0, {kind: {} for kind in KINDS}, is_whole=True)


ANY = "any"
"""Value of `resolved` for tickets that are open or over."""
