"""Datadog: the body of its webhooks integration, which whoever sets it up may write.

The default body has few fields; others name Datadog's variables, in whatever spelling and nesting:
`alert_id`, `alertId` and `alert: {id}` are one. A monitor that alerts by group is known by the
group's aggregation key, and each time it alerts by the cycle key.
https://docs.datadoghq.com/integrations/webhooks/
"""

import hashlib
import re
from collections.abc import Mapping
from itertools import islice

from services.integrations.sources.fields import (
    MOST_FIELDS,
    at,
    draft,
    flat,
    labels_of,
    line,
    names,
    paragraphs,
    plain,
)
from services.integrations.sources.source import Body, Source
from services.tickets.intake.delivery import DeliveryItem, Resolution

NAME = "datadog"

_OWN = {
    "alerttransition",
    "alertcyclekey",
    "aggregkey",
    "alertquery",
    "alertmetric",
    "alertscope",
    "monitorid",
}
_SHARED = {"alertid", "alerttitle", "alertstatus", "alerttype"}
"""Variables that others have too, inside an `alert` of theirs; Datadog's are at the top."""
_DEFAULT = {"eventtype", "title", "date"}
_HEAD = re.compile(
    r"^\s*(?:\[(?P<before>P[1-5])\]\s*)?\[(?P<state>[A-Za-z -]+?)(?: on (?P<group>[^\]]*))?\]\s*"
)
_OVER = re.compile(r"\b(recover(?:ed|y)?|ok|resolved|success)\b", re.IGNORECASE)
_WARN = re.compile(r"\bwarn", re.IGNORECASE)
_BAD_TYPES = {"error": "high", "warning": "warning", "success": "info", "info": "info"}
_MARKUP = re.compile(r"^%%%\s*$", re.MULTILINE)


def matches(body: Body) -> bool:
    """Return True for several of Datadog's variables, or the fields of its default body."""
    fields, outer = flat(body).keys(), {plain(name) for name in islice(body, MOST_FIELDS)}
    is_default = fields >= _DEFAULT and not fields.isdisjoint({"lastupdated", "orgid", "body"})
    is_monitor = "monitorid" in fields and not fields.isdisjoint({"query", "scopes", "monitorname"})
    is_own = bool(_OWN & fields) and len((_OWN | _SHARED) & fields) >= 2
    return is_default or is_monitor or is_own or len(_SHARED & outer) >= 2


def read(body: Body) -> DeliveryItem:
    """Read a ticket from what triggers, warns or lacks data; a resolution from a recovery."""
    fields = flat(body)
    title = _first(fields, "alerttitle", "eventtitle", "title", "monitorname", "name")
    head = _HEAD.match(title)
    name = title[head.end() :] if head and title[head.end() :] else title
    state = _first(fields, "alerttransition", "transition") or (head["state"] if head else "")
    tags = next((at(body, name) for name in ("tags", "TAGS", "alert.tags") if at(body, name)), None)
    scope = labels_of(_first(fields, "alertscope", "scope"))
    named = {
        "host": _first(fields, "hostname", "host"),
        "metric": _first(fields, "alertmetric", "metric"),
        "monitor_id": _first(fields, "alertid", "monitorid"),
        "event_type": _first(fields, "eventtype", "type"),
        "scopes": ",".join(names(body, "scopes")),
    }
    labels = {name: value for name, value in (scope | labels_of(tags) | named).items() if value}
    external_id = _external_id(fields, labels, name, head)
    if _OVER.search(state) or (not state and fields.get("alerttype") == "success"):
        return Resolution(NAME, external_id, _cycle(fields))
    keys = ("textonlymsg", "eventmsg", "body", "message", "msg", "description", "alertstatus")
    texts = [_MARKUP.sub("", fields[n]).strip() for n in keys if _is_filled(fields.get(n, ""))]
    query = _first(fields, "alertquery", "query")
    return draft(
        NAME,
        external_id=external_id,
        occurrence=_cycle(fields) or _first(fields, "id", "eventid", "date")[:100],
        title=name,
        description=paragraphs(*texts, f"Query: {query}" if query else ""),
        labels=labels,
        alert_name=name,
        severity=_severity(fields, head, state),
        url=_first(fields, "link", "alerturl", "eventlink", "url", "monitorurl"),
        service=_first(fields, "service"),
    )


def _first(fields: Mapping[str, str], *names: str) -> str:
    """Return the first field that is filled in: a variable without a value stays as `$NAME`."""
    return next((line(fields, n) for n in names if _is_filled(fields.get(n, ""))), "")


def _is_filled(value: str) -> bool:
    return bool(value) and not value.startswith("$") and value.lower() != "null"


def _cycle(fields: Mapping[str, str]) -> str:
    return _first(fields, "alertcyclekey", "cyclekey")[:100]


def _external_id(
    fields: Mapping[str, str], labels: Mapping[str, str], name: str, head: re.Match[str] | None
) -> str:
    """Return the group's key, or the monitor with its scope; without both a hash of the title."""
    key = _first(fields, "aggregkey", "aggregationkey")
    monitor = _first(fields, "alertid", "monitorid")
    scope = _first(fields, "alertscope", "scope", "hostname", "host") or labels.get("scopes", "")
    group = (head["group"] or "") if head else ""
    if key or monitor:
        return key or (f"{monitor}:{scope}" if scope else monitor)
    return hashlib.sha256(f"{name}\n{group}".encode()).hexdigest()[:16]


def _severity(fields: Mapping[str, str], head: re.Match[str] | None, state: str) -> str:
    """Return the monitor's priority; without one `warning` for a warning, `high` for an alert."""
    stated = _first(fields, "alertpriority", "priority", "severity")
    if stated and stated.lower() not in {"normal", "low", "null"}:  # those are of the event
        return stated
    if head and head["before"]:
        return head["before"]
    if _WARN.search(state):
        return "warning"
    return _BAD_TYPES.get(_first(fields, "alerttype").lower(), "high")


DATADOG = Source(
    name=NAME,
    expects='{"alert_id": …, "alert_title": …, "alert_transition": …, "alert_cycle_key": …, …}',
    matches=matches,
    read=read,
)
