"""What can be chosen in the list: each choice is an address, so that it can be kept and shared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from services.contracts.gateway import Sort, Within
from services.contracts.ticket import Fit, TicketStatus
from services.gateway.ticket.listing.conditions import KINDS
from services.gateway.ticket.listing.facets import Counts
from services.gateway.ticket.severity import SEVERITIES
from services.gateway.ui.tickets.list_query import ANY, ListQuery

SHOWN = 8
"""Values of a group that are seen at once; the others open on request, up to `MOST`."""
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
class Choice:
    """One value that a list can be held to; its address takes it, or lets it go again."""

    label: str
    address: str
    is_chosen: bool
    count: int | None = None


@dataclass(frozen=True)
class Group:
    """The values of one kind."""

    name: str
    title: str
    choices: Sequence[Choice]
    others: Sequence[Choice] = ()
    """Seen on request."""
    left_out: int = 0


def address(query: ListQuery, **changes: Any) -> str:  # noqa: ANN401 - values of a query
    """Of the list that this query asks for, with changes; from its beginning, but for `cursor`."""
    asked = fields(query.model_copy(update=changes), "cursor")
    asked += [("cursor", changes["cursor"])] if "cursor" in changes else []
    return f"/?{urlencode(asked)}" if asked else "/"


def fields(query: ListQuery, *left_out: str) -> list[tuple[str, str]]:
    """The query as names and values, as a form or an address holds them."""
    told = query.model_dump(mode="json", exclude_defaults=True, exclude=set(left_out))
    return [
        (name, _text(value))
        for name, values in told.items()
        for value in (values if isinstance(values, list) else [values])
    ]


def groups(query: ListQuery, counts: Counts) -> list[Group]:
    """All that can be chosen, the most telling first."""
    found = [_over(query, counts.of["resolved"]), _holders(query), _states(query, counts)]
    found += [_group(query, name, title, counts.of[name]) for name, title in _GROUPS.items()]
    return [group for group in (*found, _times(query)) if group.choices]


def sorts(query: ListQuery) -> list[Choice]:
    """The orders that the list can have."""
    return [
        Choice(label, address(query, sort=sort), query.sort is sort)
        for sort, label in _SORTS.items()
    ]


def chosen(query: ListQuery) -> list[Choice]:
    """What the list is held to, each to be let go."""
    found = [
        each
        for group in groups(query, _NOTHING)
        for each in group.choices
        if each.is_chosen and group.name != "resolved"
    ]
    if query.resolved is not False:
        label = _OVER[query.resolved]
        found.append(Choice(label, address(query, resolved=False), is_chosen=True))
    if query.text:
        found.append(Choice(f"“{query.text}”", address(query, text=""), is_chosen=True))
    if query.since or query.until:
        label = f"{query.since or 'the beginning'} to {query.until or 'now'}"
        found.append(Choice(label, address(query, since=None, until=None), is_chosen=True))
    return found


def _over(query: ListQuery, counts: Mapping[str, int]) -> Group:
    count = {False: counts.get("false", 0), True: counts.get("true", 0), None: sum(counts.values())}
    choices = [
        Choice(label, address(query, resolved=value), query.resolved is value, count[value])
        for value, label in _OVER.items()
    ]
    return Group("resolved", "Fault", choices)


def _holders(query: ListQuery) -> Group:
    """Who has them: whoever looks, nobody, or somebody whose name the address gives."""
    words = {"me": "Mine", "nobody": "Nobody’s"}
    words |= {query.holder: query.holder} if query.holder and query.holder not in words else {}
    choices = []
    for holder, label in words.items():
        is_chosen = query.holder == holder
        to = address(query, holder="" if is_chosen else holder)
        choices.append(Choice(label, to, is_chosen))
    return Group("holder", "Taken", choices)


def _states(query: ListQuery, counts: Counts) -> Group:
    found = counts.of["status"]
    choices = [
        _choice(query, "status", status, _words(status.value), found.get(status.value, 0))
        for status in TicketStatus
    ]
    unsure = counts.of["fit"].get(Fit.UNSURE.value, 0)
    choices.append(_choice(query, "fit", Fit.UNSURE, "Closest page, not sure", unsure))
    return Group("state", "State", [each for each in choices if each.count or each.is_chosen])


def _group(query: ListQuery, name: str, title: str, counts: Mapping[str, int]) -> Group:
    taken: tuple[str, ...] = getattr(query, name)
    values = sorted({*counts, *taken}, key=lambda value: _place(name, value, counts, taken))
    choices = [
        _choice(query, name, value, value or "none", counts.get(value, 0)) for value in values
    ]
    shown = max(SHOWN, len(taken))
    left_out = max(0, len(choices) - MOST)
    return Group(name, title, choices[:shown], choices[shown:MOST], left_out)


def _place(
    name: str, value: str, counts: Mapping[str, int], taken: Sequence[str]
) -> tuple[object, ...]:
    """Severities by how bad they are; else what is chosen, then what there is most of."""
    if name == "severity" and value in SEVERITIES:
        return (False, SEVERITIES.index(value), 0, value)
    return (value not in taken, len(SEVERITIES), -counts.get(value, 0), value)


def _times(query: ListQuery) -> Group:
    choices = [
        Choice(
            label,
            address(query, within=None if query.within is within else within),
            query.within is within,
        )
        for within, label in _WITHIN.items()
    ]
    return Group("within", "Came in", choices)


def _choice(query: ListQuery, name: str, value: str, label: str, count: int) -> Choice:
    taken: tuple[str, ...] = getattr(query, name)
    is_chosen = value in taken
    left = tuple(each for each in taken if each != value) if is_chosen else (*taken, value)
    return Choice(label, address(query, **{name: left}), is_chosen, count)


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _text(value: object) -> str:
    if value is None:  # of all that may be None, only `resolved` is something else by default
        return ANY
    return str(value).lower() if isinstance(value, bool) else str(value)


_NOTHING = Counts(0, {kind: {} for kind in KINDS}, is_whole=True)
