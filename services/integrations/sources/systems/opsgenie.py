"""Opsgenie, and the alerts of Jira Service Management, which took its form over.

https://support.atlassian.com/opsgenie/docs/opsgenie-edge-connector-alert-action-data/
"""

from collections.abc import Mapping
from typing import Any

from services.integrations.sources.fields import (
    at,
    display_text,
    draft,
    labels_of,
    line,
    make_comment,
    mapping,
    names,
    objects,
    paragraphs,
    text,
)
from services.integrations.sources.source import Body, Source
from services.tickets.intake.delivery import DeliveryItem, Resolution

NAME = "opsgenie"

_OVER = {"close", "closed", "delete", "deleted", "resolve", "resolved"}
_ALERT_MARKS = {"tinyId", "alias", "acknowledged", "snoozed", "lastOccurredAt", "lastOccuredAt"}


def matches(body: Body) -> bool:
    """Return True for an action on an alert, or an alert of the API."""
    alert = mapping(body, "alert")
    return _is_alert(body) or (_is_alert(alert) or ("alertId" in alert and "action" in body))


def read(body: Body) -> DeliveryItem:
    """Read a ticket from an open alert, a resolution from a closed or deleted one, or a note."""
    alert = mapping(body, "alert") or body
    external_id = line(alert, "alertId", "id", "alias", "tinyId")
    if {line(body, "action").lower(), line(alert, "status").lower()} & _OVER:
        return Resolution(NAME, external_id, "")
    if line(body, "action").lower() == "addnote":
        return make_comment(
            NAME,
            external_id=external_id,
            text=text(alert, "note") or text(body, "note"),
            author=line(alert, "username") or line(body, "username", "source.name"),
            at=line(alert, "updatedAt"),
        )
    notes = (text(note, "note") for note in objects(alert, "notes"))
    details = labels_of(at(alert, "details")) | labels_of(at(alert, "extraProperties"))
    named = ("alias", "entity", "source", "tinyId", "priority")
    responders = (
        display_text(responder)
        for responder in objects(alert, "responders")
        if line(responder, "type").lower() in {"", "team"}
    )
    teams = (*names(alert, "teams", "team"), *responders)
    return draft(
        NAME,
        external_id=external_id,
        title=line(alert, "message"),
        description=paragraphs(text(alert, "description"), text(alert, "note"), *notes),
        labels=details | labels_of(at(alert, "tags")) | {name: line(alert, name) for name in named},
        severity=line(alert, "priority"),
        url=line(alert, "alertUrl", "webUrl", "url"),
        service=line(alert, "details.service", "entity")
        or next(iter(names(alert, "services", "impactedServices")), ""),
        teams=tuple(dict.fromkeys(filter(None, teams))),
    )


def _is_alert(candidate: Mapping[str, Any]) -> bool:
    return "message" in candidate and bool(_ALERT_MARKS & candidate.keys())


OPSGENIE = Source(
    name=NAME,
    expects='{"action": "Create", "alert": {"alertId": …, "message": …}}',
    matches=matches,
    read=read,
)
