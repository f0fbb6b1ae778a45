"""PagerDuty: webhooks of version 3, those before, an incident of its API, and the Events API v2.

An event that carries an open incident opens its ticket where none is known yet, whatever the event
is about: the first may have been lost, or sent before PagerDuty was connected.
https://developer.pagerduty.com/docs/webhooks-overview
"""

from collections.abc import Mapping
from typing import Any

from services.integrations.sources.fields import (
    at,
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

NAME = "pagerduty"

_INCIDENT_MARKS = {"incident_key", "escalation_policy", "incident_number", "urgency"}
_BODIES = ("body.details", "first_trigger_log_entry.channel.details", "trigger_summary_data")


def matches(body: Body) -> bool:
    """Return True for one of the forms; an API incident has `type: incident` or its usual keys."""
    return (
        isinstance(at(body, "event.event_type"), str)
        or any(
            isinstance(message.get("incident", at(message, "data.incident")), Mapping)
            for message in objects(body, "messages")
        )
        or _is_incident(mapping(body, "incident"))
        or _is_incident(body)
        or _is_alert_event(body)
    )


def items(body: Body) -> list[Any]:
    """Return the messages of a webhook of version 1 or 2, the one event otherwise."""
    return objects(body, "messages") or [body]


def read(item: Any) -> DeliveryItem:  # noqa: ANN401 - JSON
    """Read a ticket from an open incident, a resolution from a resolved one, or a note on one."""
    if _is_alert_event(item):
        return _read_alert_event(item)
    note = _note(item)
    if note is not None:
        return note
    event = line(item, "event.event_type", "event", "type")
    for place in ("event.data", "event.data.incident", "incident", "data.incident"):
        if _is_incident(mapping(item, place)):
            return _read_incident(mapping(item, place), event)
    if isinstance(item, Mapping) and _is_incident(item):
        return _read_incident(item, event)
    if event:
        return Ignored(NAME, f"{event} tells of no incident")
    raise UnreadableTicketError(f"expected {PAGERDUTY.expects}")


def _note(item: Any) -> DeliveryItem | None:  # noqa: ANN401 - JSON
    """Return the note of `incident.annotated`; before version 3 it is in the incident's log."""
    entry = next(iter(objects(item, "log_entries")), {})
    is_note = line(item, "event.event_type", "event", "type").endswith(("annotated", "annotate"))
    words = text(item, "annotation.content") or (
        (text(item, "event.data.content") or text(entry, "channel.content", "channel.summary"))
        if is_note
        else ""
    )
    if not words:
        return None
    return make_comment(
        NAME,
        external_id=line(item, "event.data.incident.id", "incident.id"),
        text=words,
        author=line(item, "event.agent", "agent") or line(entry, "agent"),
        id_=line(item, "event.data.id", "annotation.id") or line(entry, "id"),
        at=line(item, "event.occurred_at"),
    )


def _read_incident(incident: Mapping[str, Any], event: str) -> DeliveryItem:
    external_id = line(incident, "id")
    if event.endswith(("resolved", "resolve")) or line(incident, "status") == "resolved":
        return Resolution(NAME, external_id, "")
    return draft(
        NAME,
        external_id=external_id,
        title=line(incident, "title", "description", "trigger_summary_data.subject", "summary"),
        description=paragraphs(
            *(text(incident, place) for place in ("description", *_BODIES)),
            *_details(mapping(incident, "body.cef_details.details")),
        ),
        labels={
            "incident_number": line(incident, "number", "incident_number"),
            "incident_key": line(incident, "incident_key"),
            "urgency": line(incident, "urgency"),
            "priority": line(incident, "priority"),
            "escalation_policy": line(incident, "escalation_policy"),
            "incident_type": line(incident, "incident_type"),
        },
        severity=line(incident, "priority", "urgency"),
        url=line(incident, "html_url", "self"),
        service=line(incident, "service"),
        teams=names(incident, "teams") or names(incident, "escalation_policy"),
    )


def _read_alert_event(event: Body) -> DeliveryItem:
    """Read an event that a monitoring tool would send to the Events API."""
    external_id, action = line(event, "dedup_key"), line(event, "event_action")
    if action == "resolve":
        return Resolution(NAME, external_id, "")
    details = at(event, "payload.custom_details")
    custom = labels_of(details) if isinstance(details, Mapping) else {}
    named = ("source", "component", "group", "class")
    links = (line(link, "href") for link in objects(event, "links"))
    return draft(
        NAME,
        external_id=external_id,
        title=line(event, "payload.summary"),
        description=paragraphs(text(event, "payload.custom_details"), *_details(custom)),
        labels=custom | {name: line(event, f"payload.{name}") for name in named},
        severity=line(event, "payload.severity"),
        url=line(event, "client_url") or next(filter(None, links), ""),
        service=line(event, "payload.component", "payload.group"),
    )


def _details(details: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {line(details, name)}" for name in details if line(details, name)]


def _is_incident(candidate: Mapping[str, Any]) -> bool:
    is_full = candidate.get("type") == "incident" and (
        "status" in candidate or "title" in candidate
    )
    return is_full or ("id" in candidate and len(_INCIDENT_MARKS & candidate.keys()) >= 2)


def _is_alert_event(body: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(at(body, "event_action"), str) and (
        "routing_key" in body or "dedup_key" in body or isinstance(body.get("payload"), Mapping)
    )


PAGERDUTY = Source(
    name=NAME,
    expects='{"event": {"event_type": "incident.triggered", "data": {"id": …, "title": …}}}',
    matches=matches,
    items=items,
    read=read,
    is_first_report=lambda item: line(item, "event.event_type") == "incident.triggered",
    verify=by_signature("X-PagerDuty-Signature", "v1="),
)
