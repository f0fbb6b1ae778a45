"""Opsgenie, and the alerts of Jira Service Management, which took its form over.

https://support.atlassian.com/opsgenie/docs/opsgenie-edge-connector-alert-action-data/
"""

from collections.abc import Mapping
from typing import Any

from services.gateway.sources.comments import comment
from services.gateway.sources.delivery import Body, Reading, Resolution, Source
from services.gateway.sources.fields import (
    at,
    draft,
    labels_of,
    line,
    mapping,
    names,
    objects,
    paragraphs,
    said,
    text,
)

NAME = "opsgenie"

_OVER = {"close", "closed", "delete", "deleted", "resolve", "resolved"}
_ALERT_MARKS = {"tinyId", "alias", "acknowledged", "snoozed", "lastOccurredAt", "lastOccuredAt"}


def matches(body: Body) -> bool:
    """An action on an alert, or an alert of the API."""
    alert = mapping(body, "alert")
    return _is_alert(body) or (_is_alert(alert) or ("alertId" in alert and "action" in body))


def read(body: Body) -> Reading:
    """A ticket for an open alert, a resolution for one that is closed or deleted, or a note."""
    alert = mapping(body, "alert") or body
    external_id = line(alert, "alertId", "id", "alias", "tinyId")
    if {line(body, "action").lower(), line(alert, "status").lower()} & _OVER:
        return Resolution(NAME, external_id, "")
    if line(body, "action").lower() == "addnote":
        return _read_note(body, alert, external_id)
    return draft(
        NAME,
        external_id=external_id,
        title=line(alert, "message"),
        description=_description(alert),
        labels=_labels(alert),
        severity=line(alert, "priority"),
        url=line(alert, "alertUrl", "webUrl", "url"),
        service=line(alert, "details.service", "entity") or _first_service(alert),
        teams=_teams(alert),
    )


def _read_note(body: Body, alert: Mapping[str, Any], external_id: str) -> Reading:
    return comment(
        NAME,
        external_id=external_id,
        text=text(alert, "note") or text(body, "note"),
        author=line(alert, "username") or line(body, "username", "source.name"),
        at=line(alert, "updatedAt"),
    )


def _is_alert(found: Mapping[str, Any]) -> bool:
    return "message" in found and bool(_ALERT_MARKS & found.keys())


def _description(alert: Mapping[str, Any]) -> str:
    notes = (text(note, "note") for note in objects(alert, "notes"))
    return paragraphs(text(alert, "description"), text(alert, "note"), *notes)


def _labels(alert: Mapping[str, Any]) -> dict[str, str]:
    details = labels_of(at(alert, "details")) | labels_of(at(alert, "extraProperties"))
    named = ("alias", "entity", "source", "tinyId", "priority")
    return details | labels_of(at(alert, "tags")) | {name: line(alert, name) for name in named}


def _first_service(alert: Mapping[str, Any]) -> str:
    return next(iter(names(alert, "services", "impactedServices")), "")


def _teams(alert: Mapping[str, Any]) -> tuple[str, ...]:
    responders = (
        said(responder)
        for responder in objects(alert, "responders")
        if line(responder, "type").lower() in {"", "team"}
    )
    found = (*names(alert, "teams", "team"), *responders)
    return tuple(dict.fromkeys(filter(None, found)))


OPSGENIE = Source(
    name=NAME,
    expects='{"action": "Create", "alert": {"alertId": …, "message": …}}',
    matches=matches,
    read=read,
)
