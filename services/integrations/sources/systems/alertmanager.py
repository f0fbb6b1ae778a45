"""Prometheus Alertmanager, webhook version 4: one ticket for each alert of a group.

Grafana sends alerts in the same form: labels, annotations, `startsAt`.

An alert is known by its fingerprint, and each time it fires by `startsAt`: Alertmanager repeats a
notification with the same `startsAt` while the alert goes on, and gives a new one when it fires
again after it was resolved. A resolved alert makes no ticket; it ends the one it belongs to, also
when that comes later. One without `startsAt` ends what is open of it.
https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator

from services.contracts.ticket import TicketDraft
from services.integrations.sources.fields import runbook_of, service_of, teams_of
from services.integrations.sources.source import (
    Body,
    Line,
    Source,
    Text,
    UnreadableTicketError,
    read_what_fits,
    title_from,
)
from services.kit.text import squeeze
from services.tickets.intake.delivery import Resolution
from services.tickets.ticket.severity import normalise_severity

NAME = "alertmanager"

_NO_TIME = datetime.min.replace(tzinfo=UTC)
"""Time that Go writes if none was set."""

_TITLES = ("summary", "title")
_DESCRIPTIONS = ("description", "message")
_MARKS = ("startsAt", "generatorURL", "fingerprint")
_STILL_ON = {"active", "suppressed", "unprocessed", "alerting"}
"""States of a firing alert in Alertmanager's API."""


def _status(value: object) -> object:
    if isinstance(value, Mapping):
        value = value.get("state")
    return "firing" if isinstance(value, str) and value in _STILL_ON else value


def _in_utc(started: datetime | None) -> datetime | None:
    """Return the time in UTC; None for the time that Go writes if none was set."""
    if started is None or started.replace(tzinfo=started.tzinfo or UTC) == _NO_TIME:
        return None
    try:
        return started.replace(tzinfo=started.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        raise ValueError("a time outside the calendar") from None


class PrometheusAlert(BaseModel):
    """One alert of a group."""

    status: Annotated[Literal["firing", "resolved"], BeforeValidator(_status)] = "firing"
    labels: dict[Line, Text] = {}
    annotations: dict[Line, Text] = {}
    startsAt: Annotated[datetime | None, AfterValidator(_in_utc)] = None  # noqa: N815 - Alertmanager's own name
    generatorURL: Line = ""  # noqa: N815 - as above
    fingerprint: Line = ""


def matches(body: Body) -> bool:
    """Return True for a group of version 4 or none, or a single alert of the API."""
    if is_group(body):
        return str(body.get("version", "4")) == "4"
    return "alerts" not in body and is_alert(body)


def is_alert(item: Any) -> bool:  # noqa: ANN401 - JSON
    """Return True for an object with labels that looks like nothing but an alert."""
    if not isinstance(item, Mapping) or not isinstance(item.get("labels"), Mapping):
        return False
    if not item["labels"]:
        return False
    annotated = isinstance(item.get("annotations"), Mapping)
    return annotated and ("alertname" in item["labels"] or any(mark in item for mark in _MARKS))


def is_group(body: Body) -> bool:
    """Return True for a list of alerts that names its version, or whose alerts have labels."""
    items = body.get("alerts")
    if not isinstance(items, list):
        return False
    return "version" in body or any(
        isinstance(item, Mapping) and isinstance(item.get("labels"), Mapping) for item in items
    )


def alerts(body: Body) -> list[Any]:
    """Return the group's alerts, or the single one.

    Raises:
        UnreadableTicketError: It has no list of alerts, or an empty one.
    """
    if "alerts" not in body and is_alert(body):
        return [body]
    items = body.get("alerts")
    if not isinstance(items, list) or not items:
        raise UnreadableTicketError("alerts: expected a list with at least one alert")
    return items


def read_alert(source: str, item: Any) -> TicketDraft | Resolution:  # noqa: ANN401 - JSON
    """Read a ticket from a firing alert, a resolution from a resolved one."""
    alert, left_out = read_what_fits(PrometheusAlert, item, needed="status")
    if alert.status == "resolved":
        return Resolution(source, _external_id(alert), _occurrence(alert))
    labels = {name: squeeze(value) for name, value in alert.labels.items()}
    name = labels.get("alertname", "")
    description = _first(alert.annotations, _DESCRIPTIONS)
    title = squeeze(_first(alert.annotations, _TITLES)) or name or title_from(description)
    if not title:
        raise UnreadableTicketError(
            "an alert needs a label `alertname`, or an annotation `summary` or `description`"
        )
    used = {*_TITLES, *_DESCRIPTIONS}
    others = [
        f"{name}: {text}"
        for name, text in alert.annotations.items()
        if name not in used and text and "://" not in text
    ]
    return TicketDraft(
        source=source,
        external_id=_external_id(alert),
        occurrence=_occurrence(alert),
        title=title,
        description="\n".join([*filter(None, [description]), *others]),
        labels=alert.labels | left_out,
        alert_name=name,
        severity=normalise_severity(labels.get("severity", "")),
        url=alert.generatorURL,
        runbook_url=runbook_of(alert.annotations, alert.labels),
        service=service_of(labels),
        teams=teams_of(labels),
    )


def _first(annotations: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((annotations[name] for name in names if annotations.get(name)), "")


def _external_id(alert: PrometheusAlert) -> str:
    """Return the fingerprint; without one a hash of the labels, by which Alertmanager goes too.

    Raises:
        UnreadableTicketError: Neither is there.
    """
    if alert.fingerprint:
        return alert.fingerprint
    if not alert.labels:
        raise UnreadableTicketError("an alert needs a `fingerprint`, or labels to be known by")
    labels = json.dumps(alert.labels, sort_keys=True).encode()
    return hashlib.sha256(labels).hexdigest()[:16]


def _occurrence(alert: PrometheusAlert) -> str:
    return "" if alert.startsAt is None else alert.startsAt.isoformat()


ALERTMANAGER = Source(
    name=NAME,
    expects='{"version": "4", "alerts": [{"labels": {…}, "annotations": {…}, …}]}',
    matches=matches,
    items=alerts,
    read=partial(read_alert, NAME),
)
