"""Grafana: unified alerting (one ticket for each alert of a group), and the alerting before it.

The alerts are in Prometheus' form with Grafana's links and values beside. The older alerting sends
a rule with its state; each time that it fires goes by the same id, since it sends no other.
https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
"""

from collections.abc import Mapping
from typing import Any

from services.contracts.ticket import TicketDraft
from services.integrations.sources.fields import draft, labels_of, line, objects, paragraphs, text
from services.integrations.sources.proof import (
    Credentials,
    SignatureProof,
    WebhookRequest,
    check_signature,
    check_time,
)
from services.integrations.sources.source import Body, Source
from services.integrations.sources.systems.alertmanager import alerts, is_group, read_alert
from services.tickets.intake.delivery import DeliveryItem, Ignored, Resolution

NAME = "grafana"

SIGNATURE = "X-Grafana-Alerting-Signature"
TIMESTAMPS = ("X-Grafana-Alerting-Signature-Timestamp", "X-Grafana-Alerting-Timestamp")
"""Headers that Grafana's documentation uses for the time; there is no default name."""

_LINKS = ("panelURL", "dashboardURL", "generatorURL")
_OWN_GROUP = {"orgId"}
_OWN_ALERT = {"valueString", "values", "silenceURL", "dashboardURL", "panelURL"}
_TEMPLATED = {"title", "state", "message"}
_OVER = {"ok", "no_data_ok"}
_NO_FAULT = {"paused", "pending", "unknown"}


def matches(body: Body) -> bool:
    """Return True for a group with fields of Grafana's own, or a rule with its state."""
    if _is_older(body) or not is_group(body):
        return _is_older(body)
    if not _OWN_GROUP.isdisjoint(body) or body.keys() >= _TEMPLATED:
        return True
    return any(not _OWN_ALERT.isdisjoint(alert) for alert in objects(body, "alerts"))


def items(body: Body) -> list[Any]:
    """Return the group's alerts, or the one rule; raises as `read` does."""
    return [body] if _is_older(body) else alerts(body)


def read(item: Any) -> DeliveryItem:  # noqa: ANN401 - JSON
    """Read a ticket from what fires, a resolution from what no longer does."""
    if isinstance(item, Mapping) and _is_older(item):
        return _read_older(item)
    alert = read_alert(NAME, item)
    if not isinstance(alert, TicketDraft):
        return alert
    value = line(item, "valueString")
    return alert.model_copy(
        update={
            "url": line(item, *_LINKS),
            "description": paragraphs(alert.description, f"Value: {value}" if value else ""),
        }
    )


def _is_older(body: Body) -> bool:
    return "ruleName" in body and ("evalMatches" in body or "ruleUrl" in body)


def _read_older(body: Body) -> DeliveryItem:
    external_id, state = line(body, "ruleId", "ruleName"), line(body, "state").lower()
    if state in _OVER:
        return Resolution(NAME, external_id, "")
    if state in _NO_FAULT:
        return Ignored(NAME, f"the rule is {state}")
    measured = (
        f"{line(match, 'metric')}: {line(match, 'value')}" for match in objects(body, "evalMatches")
    )
    return draft(
        NAME,
        external_id=external_id,
        title=line(body, "ruleName", "title"),
        description=paragraphs(text(body, "message"), *measured),
        labels=labels_of(body.get("tags")),
        alert_name=line(body, "ruleName"),
        severity=line(body, "tags.severity", "tags.priority"),
        url=line(body, "ruleUrl"),
    )


def _verify_signature(received: WebhookRequest, credentials: Credentials) -> None:
    secret = credentials.secret
    offered = [received.header(SIGNATURE).strip()]
    for name in TIMESTAMPS:
        seconds = received.header(name)
        if seconds:
            check_signature(SIGNATURE, offered, secret, seconds.encode() + b":" + received.raw)
            check_time(name, seconds)
            return
    check_signature(SIGNATURE, offered, secret, received.raw)


GRAFANA = Source(
    name=NAME,
    expects='{"orgId": …, "alerts": [{"labels": {…}, "valueString": …, …}]}',
    matches=matches,
    items=items,
    read=read,
    verify=SignatureProof(SIGNATURE, _verify_signature, takes_token=True),
)
