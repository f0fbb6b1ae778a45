"""Prometheus Alertmanager, webhook version 4: one ticket for each alert of a group.

An alert is known by its fingerprint, and each time it fires by `startsAt`: Alertmanager repeats a
notification with the same `startsAt` while the alert goes on, and gives a new one when it fires
again after it was resolved. A resolved alert makes no ticket; it ends the one it belongs to, also
when that comes later. One without `startsAt` ends what is open of it.
https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
"""

from typing import Any

from services.integrations.sources.source import Body, Source
from services.integrations.sources.systems.prometheus import alerts, is_alert, is_group, read_alert
from services.tickets.intake.delivery import DeliveryItem

NAME = "alertmanager"


def matches(body: Body) -> bool:
    """Return True for a group of version 4 or none, or a single alert of the API."""
    if is_group(body):
        return str(body.get("version", "4")) == "4"
    return "alerts" not in body and is_alert(body)


def read(item: Any) -> DeliveryItem:  # noqa: ANN401 - JSON
    """Read a ticket from a firing alert, a resolution from a resolved one."""
    return read_alert(NAME, item)


ALERTMANAGER = Source(
    name=NAME,
    expects='{"version": "4", "alerts": [{"labels": {…}, "annotations": {…}, …}]}',
    matches=matches,
    items=alerts,
    read=read,
)
