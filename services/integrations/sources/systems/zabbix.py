"""Zabbix: the body of a webhook media type, whose names follow Zabbix' macros, and event streams.

A media type's script may send its parameters in any spelling and nesting; `{EVENT.ID}` comes as
`event_id`, `eventid` or `event: {id}`. A recovery names the problem's event id, too.
https://www.zabbix.com/documentation/current/en/manual/config/notifications/media/webhook
"""

from collections.abc import Mapping

from services.integrations.sources.fields import (
    at,
    draft,
    flat,
    labels_of,
    line,
    names,
    objects,
    paragraphs,
)
from services.integrations.sources.source import Body, Source
from services.tickets.intake.delivery import DeliveryItem, Ignored, Resolution

NAME = "zabbix"

_IDS = {"eventid", "triggerid", "problemid"}
_OWN = {
    "triggerid",
    "triggername",
    "triggerseverity",
    "triggerstatus",
    "triggerdescription",
    "eventseverity",
    "eventnseverity",
    "eventvalue",
    "eventopdata",
    "eventupdatestatus",
    "zabbixurl",
}
_STREAMED = {"eventid", "clock", "name"}
_SEVERITIES = ("info", "info", "warning", "warning", "high", "critical")
"""Severities by number: not classified, information, warning, average, high, disaster."""
_OVER = {"resolved", "ok", "recovery", "recovered"}
_UPDATE = "1"
_PROBLEM = "PROBLEM"
"""Value of `{EVENT.STATUS}` that no other system has."""
_TITLES = ("eventname", "triggername", "problemname", "name", "trigger", "problem")


def matches(body: Body) -> bool:
    """Return True for parameters named after Zabbix' macros, or an event of its streams."""
    fields = flat(body)
    stated = line(fields, "status", "eventstatus").upper()
    is_own = bool(_OWN & fields.keys()) or fields.keys() >= _STREAMED or stated == _PROBLEM
    return bool(_IDS & fields.keys()) and is_own


def read(body: Body) -> DeliveryItem:
    """Read a ticket from a problem, a resolution from its recovery."""
    fields = flat(body)
    external_id = line(fields, "peventid", "eventid", "problemid", "triggerid", "id")
    value = line(fields, "eventvalue", "triggervalue", "value")
    status = line(fields, "eventstatus", "triggerstatus", "status").lower()
    if value == "0" or status in _OVER or line(fields, "reventid").strip("0"):
        return Resolution(NAME, external_id, "")
    title = line(fields, *_TITLES, "alertsubject", "subject")
    if not title and line(fields, "eventupdatestatus") == _UPDATE:
        return Ignored(NAME, "an update that does not name its problem")
    labels = _labels(body, fields)
    keys = ("triggerdescription", "alertmessage", "message", "eventopdata", "opdata")
    stated = line(fields, "eventurl", "triggerurl", "problemurl", "url", "link")
    server, trigger = line(fields, "zabbixurl").rstrip("/"), line(fields, "triggerid")
    event = line(fields, "eventid")
    page = f"{server}/tr_events.php?triggerid={trigger}&eventid={event}"
    return draft(
        NAME,
        external_id=external_id,
        title=title,
        description=paragraphs(*(fields.get(name, "") for name in keys)),
        labels=labels,
        alert_name=line(fields, "triggername", *_TITLES),
        severity=_severity(fields),
        url=stated or (page if server and trigger and event else ""),
        service=labels.get("service") or line(fields, "service"),
        teams=names(labels, "team"),
    )


def _labels(body: Body, fields: Mapping[str, str]) -> dict[str, str]:
    tags = next(
        (
            value
            for path in ("event_tags", "eventTags", "event.tags", "tags")
            if (value := at(body, path))
        ),
        None,
    )
    hosts = [line(host, "name", "host") for host in objects(body, "hosts")]
    groups = (*names(body, "groups"), *names(body, "hostgroups"))
    return labels_of(tags) | {
        "host": line(fields, "hostname", "hosthost", "host") or next(filter(None, hosts), ""),
        "host_ip": line(fields, "hostip", "hostconn"),
        "host_group": line(fields, "hostgroup", "triggerhostgroupname") or ",".join(groups),
        "item": line(fields, "itemname"),
        "value": line(fields, "itemvalue", "itemlastvalue"),
        "trigger_id": line(fields, "triggerid"),
    }


def _severity(fields: Mapping[str, str]) -> str:
    number = line(fields, "eventnseverity", "triggernseverity", "nseverity")
    word = line(fields, "eventseverity", "triggerseverity", "severity")
    number = number or word
    if number.isdecimal() and len(number) == 1 and int(number) < len(_SEVERITIES):
        return _SEVERITIES[int(number)]
    return word


ZABBIX = Source(
    name=NAME,
    expects='{"event_id": …, "event_name": …, "event_value": "1", "event_nseverity": …, …}',
    matches=matches,
    read=read,
)
