"""Prometheus Alertmanager, webhook version 4: one ticket for each alert of a group.

An alert is known by its fingerprint, and each time it fires by `startsAt`: Alertmanager repeats a
notification with the same `startsAt` while the alert goes on, and gives a new one when it fires
again after it was resolved. A resolved alert makes no ticket; it ends the one it belongs to, also
when that comes later. One without `startsAt` ends only what was there before it.
https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel

from services.contracts.ticket import TicketDraft
from services.gateway.sources.delivery import (
    Body,
    Line,
    Resolution,
    Source,
    Text,
    UnreadableTicketError,
    one_line,
    opening,
    read_model,
)

NAME = "alertmanager"

_NO_TIME = datetime.min.replace(tzinfo=UTC)
"""What Go writes for a time that was never set."""

_TITLES = ("summary", "title")
_DESCRIPTIONS = ("description", "message")


class Alert(BaseModel):
    """One alert of a group."""

    status: Literal["firing", "resolved"] = "firing"
    labels: dict[Line, Text] = {}
    annotations: dict[Line, Text] = {}
    startsAt: datetime | None = None  # noqa: N815 - Alertmanager's own name
    generatorURL: Line = ""  # noqa: N815 - as above
    fingerprint: Line = ""


def matches(body: Body) -> bool:
    """A group of alerts that names version 4; Grafana's, which looks alike, names another."""
    return isinstance(body.get("alerts"), list) and str(body.get("version")) == "4"


def alerts(body: Body) -> list[Any]:
    """The group's alerts.

    Raises:
        UnreadableTicketError: It has no list of alerts, or an empty one.
    """
    found = body.get("alerts")
    if not isinstance(found, list) or not found:
        raise UnreadableTicketError("alerts: expected a list with at least one alert")
    return found


def read(item: Any) -> TicketDraft | Resolution:  # noqa: ANN401 - JSON
    """A ticket for a firing alert, a resolution for a resolved one."""
    alert = read_model(Alert, item)
    if alert.status == "resolved":
        return Resolution(NAME, _external_id(alert), _occurrence(alert))
    name = one_line(alert.labels.get("alertname", ""))
    description = _first(alert.annotations, _DESCRIPTIONS)
    title = one_line(_first(alert.annotations, _TITLES)) or name or opening(description)
    if not title:
        raise UnreadableTicketError(
            "an alert needs a label `alertname`, or an annotation `summary` or `description`"
        )
    return TicketDraft(
        source=NAME,
        external_id=_external_id(alert),
        occurrence=_occurrence(alert),
        title=title,
        description=_description(description, alert.annotations),
        labels=alert.labels,
        alert_name=name,
        severity=one_line(alert.labels.get("severity", "")),
        url=alert.generatorURL,
    )


def _description(first: str, annotations: Mapping[str, str]) -> str:
    """The description, then what else the rule's author wrote; links are no description."""
    said = {*_TITLES, *_DESCRIPTIONS}
    others = [
        f"{name}: {text}"
        for name, text in annotations.items()
        if name not in said and text and "://" not in text
    ]
    return "\n".join([*filter(None, [first]), *others])


def _first(annotations: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((annotations[name] for name in names if annotations.get(name)), "")


def _external_id(alert: Alert) -> str:
    """The fingerprint; senders that leave it out are known by their labels, as Alertmanager does.

    Raises:
        UnreadableTicketError: Neither is there.
    """
    if alert.fingerprint:
        return alert.fingerprint
    if not alert.labels:
        raise UnreadableTicketError("an alert needs a `fingerprint`, or labels to be known by")
    labels = json.dumps(alert.labels, sort_keys=True).encode()
    return hashlib.sha256(labels).hexdigest()[:16]


def _occurrence(alert: Alert) -> str:
    if alert.startsAt is None:
        return ""
    started = alert.startsAt
    if started.tzinfo is None:
        started = started.replace(tzinfo=UTC)
    try:
        return "" if started == _NO_TIME else started.astimezone(UTC).isoformat()
    except OverflowError:
        raise UnreadableTicketError("startsAt: a time outside the calendar") from None


ALERTMANAGER = Source(
    name=NAME,
    expects='{"version": "4", "alerts": [{"labels": {…}, "annotations": {…}, …}]}',
    matches=matches,
    items=alerts,
    read=read,
)
