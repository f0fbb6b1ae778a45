"""A plain ticket body, for whatever has no source of its own.

A body with an id is known by it. One without is a ticket of its own each time it comes, unless it
carries an `Idempotency-Key`.
"""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from services.contracts.ticket import TicketDraft
from services.gateway.sources.delivery import (
    Body,
    Line,
    Source,
    Text,
    UnreadableTicketError,
    one_line,
    opening,
    read_model,
)

NAME = "generic"


def _scalar(value: object) -> object:
    """Numbers and booleans in their JSON spelling; anything else is left to be refused."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _number(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class TicketBody(BaseModel):
    """The fields, each under the names that ticket systems use for it."""

    external_id: Annotated[Line, BeforeValidator(_number)] = Field(
        "", validation_alias=AliasChoices("external_id", "id", "key", "ticket_id", "number")
    )
    title: Line = Field(
        "", validation_alias=AliasChoices("title", "summary", "subject", "short_description")
    )
    name: Line = ""
    description: Text = Field(
        "",
        validation_alias=AliasChoices("description", "body", "text", "message", "details"),
    )
    labels: dict[Line, Annotated[Text, BeforeValidator(_scalar)]] = {}
    severity: Line = Field("", validation_alias=AliasChoices("severity", "priority"))
    alert_name: Line = Field("", validation_alias=AliasChoices("alert_name", "alertname"))
    url: Line = Field("", validation_alias=AliasChoices("url", "link"))


_TEXT_FIELDS = frozenset(
    name
    for field in ("title", "description", "alert_name")
    for alias in [TicketBody.model_fields[field].validation_alias]
    if isinstance(alias, AliasChoices)
    for name in alias.choices
) | {"name"}


def matches(body: Body) -> bool:
    """An object with at least one field that says what is wrong."""
    return not _TEXT_FIELDS.isdisjoint(body)


def read(body: Body) -> TicketDraft:
    """The one ticket."""
    # An empty field counts as absent, so that the next of its names is looked at.
    ticket = read_model(TicketBody, {k: v for k, v in body.items() if v not in (None, "")})
    alert_name = ticket.alert_name or one_line(ticket.labels.get("alertname", ""))
    title = ticket.title or ticket.name or alert_name or opening(ticket.description)
    if not title:
        raise UnreadableTicketError(f"expected {GENERIC.expects} with some text, got none")
    return TicketDraft(
        source=NAME,
        external_id=ticket.external_id,
        title=title,
        description=ticket.description,
        labels=ticket.labels,
        alert_name=alert_name,
        severity=ticket.severity or one_line(ticket.labels.get("severity", "")),
        url=ticket.url,
    )


GENERIC = Source(
    name=NAME,
    expects='{"title": …, "description": …} (or summary, subject, name; body, text, message)',
    matches=matches,
    read=read,
)
