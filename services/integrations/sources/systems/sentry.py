"""Sentry: webhooks of its integration platform, those of its plugin before, and issues of its API.

Events, issues and errors are known by their issue, so that an issue that is resolved ends the
ticket that any of its events opened; metric alerts are known by their incident.
https://docs.sentry.io/integrations/integration-platform/webhooks/
"""

import re
from collections.abc import Mapping
from typing import Any

from services.integrations.sources.fields import (
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
from services.integrations.sources.proof import by_signature
from services.integrations.sources.source import Body, Source, UnreadableTicketError
from services.tickets.intake.delivery import DeliveryItem, Ignored, Resolution

NAME = "sentry"

_OVER = {"resolved", "archived", "ignored"}
_ISSUE_MARKS = {"culprit", "permalink", "firstSeen", "project"}
_PROJECT = re.compile(r"(?:^|/)projects/[^/]*/([^/]+)")
"""Project in the address of an event: `…/projects/<organisation>/<project>/…`."""
_RESOURCES = ("installation", "comment", "issue", "event", "error", "metric_alert", "issue_alert")


def matches(body: Body) -> bool:
    """Return True for an action with its data, an event of the plugin, or an issue."""
    data = mapping(body, "data")
    if "action" in body and any(name in data for name in _RESOURCES):
        return True
    return _is_plugin(body) or _is_issue(body)


def read(body: Body) -> DeliveryItem:
    """Read a ticket from a fault, a resolution from an issue or metric alert, or a comment."""
    action, data = line(body, "action").lower(), mapping(body, "data")
    if "comment" in data:
        return _read_comment(body, data, action)
    if isinstance(data.get("metric_alert"), Mapping):
        return _read_metric_alert(data, action)
    for name in ("event", "error"):
        if isinstance(data.get(name), Mapping):
            return _read_event(mapping(data, name), rule=line(data, "triggered_rule"))
    if isinstance(data.get("issue"), Mapping) or _is_issue(body):
        return _read_issue(mapping(data, "issue") or body, action)
    if _is_plugin(body):
        event = mapping(body, "event")
        labels = labels_of(event.get("tags"))
        return draft(
            NAME,
            external_id=line(body, "id") or line(event, "issue_id", "event_id"),
            title=line(event, "title") or line(body, "message", "culprit"),
            description=paragraphs(text(body, "message"), _describe_event(event), _where(body)),
            labels=labels
            | {"level": line(body, "level"), "environment": line(event, "environment")},
            severity=line(body, "level") or line(event, "level"),
            url=line(body, "url"),
            service=line(body, "project_slug", "project_name", "project"),
        )
    if action:
        return Ignored(NAME, f"{action} tells of no fault")
    raise UnreadableTicketError(f"expected {SENTRY.expects}")


def _read_comment(body: Body, data: Mapping[str, Any], action: str) -> DeliveryItem:
    if action == "deleted":
        return Ignored(NAME, "a comment that was deleted")
    return make_comment(
        NAME,
        external_id=line(data, "issue_id", "issue.id"),
        text=text(data, "comment"),
        author=line(body, "actor"),
        id_=line(data, "comment_id"),
        at=line(data, "timestamp"),
    )


def _is_plugin(body: Body) -> bool:
    has_project = "project_slug" in body or "project_name" in body
    return has_project and ("culprit" in body or isinstance(body.get("event"), Mapping))


def _is_issue(candidate: Mapping[str, Any]) -> bool:
    return "shortId" in candidate and bool(_ISSUE_MARKS & candidate.keys())


def _read_issue(issue: Mapping[str, Any], action: str) -> DeliveryItem:
    external_id = line(issue, "id", "shortId")
    if {action, line(issue, "status").lower()} & _OVER:
        return Resolution(NAME, external_id, "")
    is_team = line(issue, "assignedTo.type") == "team"
    return draft(
        NAME,
        external_id=external_id,
        title=line(issue, "title", "metadata.title", "metadata.type"),
        description=paragraphs(
            text(issue, "metadata.value"),
            _where(issue),
            *(text(event, "message") for event in objects(issue, "events")),
        ),
        labels=labels_of(issue.get("tags"))
        | {
            "level": line(issue, "level"),
            "short_id": line(issue, "shortId"),
            "platform": line(issue, "platform"),
        },
        severity=line(issue, "level", "priority"),
        url=line(issue, "web_url", "permalink", "url"),
        service=line(issue, "project.slug", "project"),
        teams=names(issue, "assignedTo") if is_team else (),
    )


def _read_event(event: Mapping[str, Any], *, rule: str) -> DeliveryItem:
    project = _PROJECT.search(line(event, "url"))
    return draft(
        NAME,
        external_id=line(event, "issue_id", "groupID", "group_id", "event_id"),
        title=line(event, "title", "metadata.title", "message"),
        description=_describe_event(event),
        labels=labels_of(event.get("tags"))
        | {
            "level": line(event, "level"),
            "platform": line(event, "platform"),
            "environment": line(event, "environment"),
            "release": line(event, "release"),
            "rule": rule,
        },
        severity=line(event, "level"),
        url=line(event, "web_url", "issue_url", "url"),
        service=line(event, "project_slug", "project_name") or (project[1] if project else ""),
    )


def _read_metric_alert(data: Mapping[str, Any], action: str) -> DeliveryItem:
    alert = mapping(data, "metric_alert")
    external_id = line(alert, "id", "identifier")
    if action in _OVER:
        return Resolution(NAME, external_id, "")
    rule = mapping(alert, "alert_rule")
    return draft(
        NAME,
        external_id=external_id,
        title=line(data, "description_title") or line(alert, "title") or line(rule, "name"),
        description=text(data, "description_text"),
        labels={
            "aggregate": line(rule, "aggregate"),
            "query": line(rule, "query"),
            "environment": line(rule, "environment"),
        },
        alert_name=line(rule, "name") or line(alert, "title"),
        severity=action,
        url=line(data, "web_url"),
        service=next(iter(names(alert, "projects")), ""),
    )


def _describe_event(event: Mapping[str, Any]) -> str:
    """Return message, exceptions and the place where the last one was raised."""
    raised = [
        ": ".join(filter(None, (line(one, "type"), text(one, "value"))))
        for one in objects(event, "exception.values")
    ]
    message = text(event, "logentry.formatted", "message", "metadata.value")
    return paragraphs(message, *raised, _where(event))


def _where(record: Mapping[str, Any]) -> str:
    culprit = line(record, "culprit", "location")
    return f"In {culprit}" if culprit else ""


SENTRY = Source(
    name=NAME,
    expects='{"action": "triggered", "data": {"event": {"issue_id": …, "title": …}}}',
    matches=matches,
    read=read,
    verify=by_signature("Sentry-Hook-Signature"),
)
