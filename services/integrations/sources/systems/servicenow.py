"""ServiceNow: a record of the task tables, as a business rule or the Table API gives it.

ServiceNow sends what the script of the business rule builds. `docs/ticket-systems.md` has one to
copy; its names are those of the columns, and most scripts keep them. Values are texts or, with
`sysparm_display_value=all`, objects of both; names may be in camel case; the record may stand under
`result`, `record`, `current` or the table's name.
"""

from collections.abc import Mapping
from typing import Any

from services.integrations.sources.fields import (
    display_text,
    draft,
    line,
    make_comment,
    names,
    paragraphs,
    text,
)
from services.integrations.sources.source import Body, Source
from services.tickets.intake.delivery import DeliveryItem, Resolution

NAME = "servicenow"

_PLACES = ("record", "current", "incident", "problem", "task", "alert", "result", "data")
_IDS = ("number", "sys_id", "sysId", "incident_number", "incidentNumber")
_SHORT = ("short_description", "shortDescription")
_OVER_STATES = {"resolved", "closed", "canceled", "cancelled", "6", "7", "8", "106", "107"}
"""States that are over: of incidents (6 resolved, 7 closed, 8 canceled), problems (106, 107)."""
_LABELS = (
    "sys_id",
    "category",
    "subcategory",
    "cmdb_ci",
    "business_service",
    "assignment_group",
    "location",
    "company",
    "contact_type",
    "impact",
    "urgency",
    "priority",
    "state",
    "sys_class_name",
)
_EVENT_FIELDS = ("node", "resource", "metric_name", "source", "type", "message_key")
"""Fields of an alert or event of Event Management."""


def matches(body: Body) -> bool:
    """Return True for a record with short description and id, a comment on one, or an alert."""
    return any(_is_record(record) for record in _places(body))


def items(body: Body) -> list[Any]:
    """Return the records: one, or the list under `result` or `records`."""
    for place in ("result", "records"):
        if isinstance(body.get(place), list):
            return list(body[place])
    return [next(filter(_is_record, _places(body)), body)]


def read(record: Any) -> DeliveryItem:  # noqa: ANN401 - JSON
    """Read a ticket from an open record, a resolution from one that is over, or a comment."""
    columns = _columns(record)
    external_id = line(columns, "number", "incident_number", "sys_id")
    if isinstance(columns.get("comment"), Mapping):
        return make_comment(
            NAME,
            external_id=external_id,
            text=text(columns["comment"], "text", "value"),
            author=line(columns["comment"], "author", "sys_created_by"),
            id_=line(columns["comment"], "id", "sys_id"),
            at=line(columns["comment"], "sys_created_on"),
        )
    states = {line(columns, name).lower() for name in ("state", "incident_state", "status")}
    states |= {line(columns, f"{name}.value").lower() for name in ("state", "incident_state")}
    if states & _OVER_STATES or line(columns, "active").lower() == "false":
        return Resolution(NAME, external_id, "")
    description, short = text(columns, "description"), line(columns, "short_description")
    return draft(
        NAME,
        external_id=external_id,
        title=short,
        description=paragraphs(description, text(columns, "comments"), text(columns, "work_notes")),
        labels={name: line(columns, name) for name in (*_LABELS, *_EVENT_FIELDS)},
        severity=_severity(columns),
        url=line(columns, "url", "link", "record_url", "sys_url"),
        service=line(columns, "business_service", "service_offering", "cmdb_ci", "node"),
        teams=names(columns, "assignment_group"),
    )


def _places(body: Body) -> list[Mapping[str, Any]]:
    values = [body, *(body.get(place) for place in _PLACES)]
    lists = [value[0] for value in values if isinstance(value, list) and value]
    return [value for value in (*values, *lists) if isinstance(value, Mapping)]


def _is_record(record: Mapping[str, Any]) -> bool:
    if isinstance(record.get("comment"), Mapping) and display_text(record.get("sys_id")):
        return True
    if any(display_text(record.get(name)) for name in _SHORT):
        return any(display_text(record.get(name)) for name in _IDS)
    return "message_key" in record and "node" in record and "description" in record


def _columns(record: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return the record by the names of its columns, whichever way the script spelt them."""
    if not isinstance(record, Mapping):
        return {}
    return {
        "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name): value
        for name, value in record.items()
    }


def _severity(columns: Mapping[str, Any]) -> str:
    """Return the priority, which ServiceNow computes; or else the worse of impact and urgency."""
    stated = line(columns, "priority", "severity")
    if stated:
        return stated
    rated = [line(columns, name) for name in ("impact", "urgency")]
    return next(iter(sorted(filter(None, rated))), "")


SERVICENOW = Source(
    name=NAME,
    expects='{"number": "INC…", "short_description": …, "sys_id": …, "priority": …}',
    matches=matches,
    items=items,
    read=read,
)
