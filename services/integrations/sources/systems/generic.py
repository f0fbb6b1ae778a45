"""A plain ticket body, for whatever has no source of its own.

A body with an id is known by it. One without is a ticket of its own each time it comes, unless it
carries an `Idempotency-Key`. One with an id and a status such as `resolved` ends its ticket; one
with an id, `"event": "comment"` and a `comment` is a comment on it.
"""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from services.contracts.ticket import RUNBOOK_LINKS, TicketDraft
from services.integrations.sources.fields import (
    line,
    make_comment,
    names,
    paragraphs,
    runbook_of,
    service_of,
    teams_of,
    text,
)
from services.integrations.sources.proof import by_signature
from services.integrations.sources.source import (
    Body,
    Line,
    Source,
    Text,
    UnreadableTicketError,
    read_model,
    title_from,
)
from services.kit.text import squeeze
from services.tickets.intake.delivery import DeliveryItem, Resolution
from services.tickets.ticket.severity import normalise_severity

NAME = "generic"

SIGNATURE = "X-Hub-Signature-256"

_OVER = {"resolved", "closed", "recovered", "ok", "done", "canceled", "cancelled"}
_IDS = ("external_id", "id", "key", "ticket_id", "number", "alert_id", "incident_id", "fingerprint")
_TITLES = ("title", "summary", "subject", "short_description")
_DESCRIPTIONS = ("description", "body", "text", "message", "details")
_SERVICES = ("service", "service_name", "application", "component")
_TEAMS = ("teams", "team", "assignment_group", "owner")


def _scalar(value: object) -> object:
    """Return numbers and booleans in their JSON spelling; leave the rest to be refused."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _number(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class TicketBody(BaseModel):
    """Fields of a ticket, each under the names that ticket systems use for it."""

    external_id: Annotated[Line, BeforeValidator(_number)] = Field(
        "", validation_alias=AliasChoices(*_IDS)
    )
    title: Line = Field("", validation_alias=AliasChoices(*_TITLES))
    name: Line = ""
    description: Text = Field("", validation_alias=AliasChoices(*_DESCRIPTIONS))
    labels: dict[Line, Annotated[Text, BeforeValidator(_scalar)]] = Field(
        {}, validation_alias=AliasChoices("labels", "commonLabels")
    )
    severity: Annotated[Line, BeforeValidator(_number)] = Field(
        "", validation_alias=AliasChoices("severity", "priority")
    )
    alert_name: Line = Field("", validation_alias=AliasChoices("alert_name", "alertname"))
    url: Line = Field("", validation_alias=AliasChoices("url", "link"))


_TEXT_FIELDS = frozenset({*_TITLES, *_DESCRIPTIONS, "alert_name", "alertname", "name"})


def matches(body: Body) -> bool:
    """Return True for an object with a field that says what is wrong, or a comment on a ticket."""
    return not _TEXT_FIELDS.isdisjoint(body) or _is_comment(body)


def _is_comment(body: Body) -> bool:
    """Return True if it says that it is a comment, and of which ticket."""
    return (
        line(body, "event") == "comment" and bool(_comment_text(body)) and bool(line(body, *_IDS))
    )


def _comment_text(body: Body) -> str:
    return text(body, "comment.text", "comment.body", "comment")


def read(body: Body) -> DeliveryItem:
    """Read the one ticket, its end, or a comment on it."""
    if _is_comment(body):
        return make_comment(
            NAME,
            external_id=line(body, *_IDS),
            text=_comment_text(body),
            author=line(body, "comment.author", "author", "user"),
            id_=line(body, "comment.id", "comment_id"),
            at=line(body, "at", "timestamp", "created_at"),
        )
    # An empty field counts as absent, so that the next of its names is looked at.
    ticket = read_model(TicketBody, {k: v for k, v in body.items() if v not in (None, "")})
    if ticket.external_id and line(body, "status", "state").lower() in _OVER:
        return Resolution(NAME, ticket.external_id, "")
    alert_name = ticket.alert_name or squeeze(ticket.labels.get("alertname", ""))
    # A short message beside a description is what others call the title.
    brief = title_from(line(body, "message")) if "description" in body else ""
    title = ticket.title or ticket.name or alert_name or brief or title_from(ticket.description)
    if not title:
        raise UnreadableTicketError(f"expected {GENERIC.expects} with some text, got none")
    return TicketDraft(
        source=NAME,
        external_id=ticket.external_id,
        title=title,
        description=paragraphs(ticket.description, *(text(body, name) for name in _DESCRIPTIONS)),
        labels=ticket.labels,
        alert_name=alert_name,
        severity=normalise_severity(ticket.severity or squeeze(ticket.labels.get("severity", ""))),
        url=ticket.url,
        runbook_url=runbook_of({"runbook_url": line(body, *RUNBOOK_LINKS)}, ticket.labels),
        service=line(body, *_SERVICES) or service_of(ticket.labels),
        teams=names(body, *_TEAMS) or teams_of(ticket.labels),
    )


GENERIC = Source(
    name=NAME,
    expects='{"title": …, "description": …} (or summary, subject, name; body, text, message)',
    matches=matches,
    read=read,
    verify=by_signature(SIGNATURE, "sha256=", takes_token=True),
)
