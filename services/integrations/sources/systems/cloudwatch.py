"""Amazon CloudWatch: alarms by SNS, by EventBridge, and as its API describes them.

An alarm is known by its ARN, and each time by when it went off. That it is OK again names another
time, and ends whatever is open of the alarm.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
"""

from collections.abc import Mapping
from typing import Any

from services.integrations.sources import sns
from services.integrations.sources.bodies import json_object
from services.integrations.sources.fields import (
    at,
    draft,
    line,
    mapping,
    names,
    objects,
    paragraphs,
    text,
)
from services.integrations.sources.source import Body, Source, UnreadableTicketError
from services.tickets.intake.delivery import DeliveryItem, Ignored, Resolution

NAME = "cloudwatch"

_STATE_CHANGE = "CloudWatch Alarm State Change"
_OVER, _ON = "OK", "ALARM"


def matches(body: Body) -> bool:
    """Return True for an SNS envelope, an alarm's state change, or an alarm."""
    return sns.is_envelope(body) or _is_change(body) or bool(_alarm_name(body))


def read(body: Body) -> DeliveryItem:
    """Read a ticket from an alarm that went off, a resolution from one that is OK."""
    if sns.is_envelope(body):
        if sns.is_confirmation(body):
            raise sns.SubscriptionRefusedError(
                "an SNS subscription is confirmed only where "
                "FLOWXPERT_WEBHOOK_SNS_CONFIRM allows it"
            )
        message = json_object(text(body, "Message"))
        if message is None or not (_is_change(message) or _alarm_name(message)):
            raise UnreadableTicketError("Message: expected a CloudWatch alarm as JSON")
        return read(message)
    if _is_change(body):
        return _read_alarm(_alarm_of_event(body))
    if _alarm_name(body):
        return _read_alarm(body)
    raise UnreadableTicketError(f"expected {CLOUDWATCH.expects}")


def _is_change(body: Body) -> bool:
    return body.get("detail-type") == _STATE_CHANGE and isinstance(body.get("detail"), Mapping)


def _alarm_of_event(event: Body) -> dict[str, Any]:
    """Return the alarm of an EventBridge event, in the names of the SNS message."""
    detail = mapping(event, "detail")
    stat: Mapping[str, Any] = next(iter(objects(detail, "configuration.metrics")), {})
    return {
        "AlarmName": line(detail, "alarmName"),
        "AlarmArn": next(iter(names(event, "resources")), ""),
        "AlarmDescription": line(detail, "configuration.description"),
        "NewStateValue": line(detail, "state.value"),
        "NewStateReason": line(detail, "state.reason"),
        "StateChangeTime": line(detail, "state.timestamp"),
        "AWSAccountId": line(event, "account"),
        "Region": line(event, "region"),
        "Namespace": line(stat, "metricStat.metric.namespace"),
        "MetricName": line(stat, "metricStat.metric.name"),
        "Dimensions": at(stat, "metricStat.metric.dimensions"),
    }


def _alarm_name(body: Body) -> str:
    """Return the name of an alarm that states its state; empty otherwise."""
    state = line(body, "NewStateValue", "StateValue", "stateValue")
    return line(body, "AlarmName", "alarmName") if state else ""


def _read_alarm(alarm: Mapping[str, Any]) -> DeliveryItem:
    name = line(alarm, "AlarmName", "alarmName")
    external_id = line(alarm, "AlarmArn", "alarmArn") or name
    state = line(alarm, "NewStateValue", "StateValue", "stateValue")
    changed = ("StateChangeTime", "StateTransitionedTimestamp", "stateTransitionedTimestamp")
    if state == _OVER:
        return Resolution(NAME, external_id, "")
    if state != _ON:
        return Ignored(NAME, "the alarm has too little data to tell")
    dimensions = _dimensions(at(alarm, "Trigger.Dimensions") or alarm.get("Dimensions"))
    labels = (dimensions or _dimensions(alarm.get("dimensions"))) | {
        "namespace": line(alarm, "Trigger.Namespace", "Namespace", "namespace"),
        "metric": line(alarm, "Trigger.MetricName", "MetricName", "metricName"),
        "account": line(alarm, "AWSAccountId"),
        "region": line(alarm, "Region", "region"),
    }
    return draft(
        NAME,
        external_id=external_id,
        occurrence=line(alarm, *changed, "stateUpdatedTimestamp", "StateUpdatedTimestamp")[:100],
        title=name,
        description=paragraphs(
            line(alarm, "AlarmDescription", "alarmDescription"),
            line(alarm, "NewStateReason", "StateReason", "stateReason"),
        ),
        labels=labels,
        alert_name=name,
        severity=labels.get("severity", "high"),
        url=line(alarm, "consoleUrl"),
        service=labels.get("namespace", ""),
    )


def _dimensions(value: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    """Return dimensions from a list of names and values, or from an object."""
    if isinstance(value, Mapping):
        return {str(name): line(value, name) for name in value if "." not in str(name)}
    listed = objects({"d": value}, "d")
    return {line(item, "name", "Name"): line(item, "value", "Value") for item in listed}


CLOUDWATCH = Source(
    name=NAME,
    expects='{"Type": "Notification", "Message": "{\\"AlarmName\\": …}", "Signature": …}',
    matches=matches,
    read=read,
    verify=sns.SnsProof(),
)
