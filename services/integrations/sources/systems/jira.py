"""Jira: webhooks about issues, the issue that an automation rule sends, and one of the REST API.

https://developer.atlassian.com/server/jira/platform/webhooks/
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from services.integrations.sources.fields import (
    at,
    display_text,
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

NAME = "jira"

SIGNATURE = "X-Hub-Signature"

_TEAMS = ("fields.team", "fields.Team", "fields.customfield_10001")
"""Paths of an issue's team; Jira Cloud keeps it in the custom field of that number."""
_GONE = ("jira:issue_deleted", "issue_deleted")
_DONE = {"done", "closed", "resolved"}
_TEXT_BLOCKS = {"paragraph", "heading", "codeBlock", "listItem", "tableRow", "rule", "blockquote"}


def matches(body: Body) -> bool:
    """Return True for an issue with key and fields, alone or in an event, or any Jira event."""
    event = body.get("webhookEvent")
    return _issue(body) is not None or isinstance(event, str)


def read(body: Body) -> DeliveryItem:
    """Read a ticket from an open issue, a resolution from a done or deleted one, or a comment."""
    issue, event = _issue(body), line(body, "webhookEvent")
    if issue is None:
        if event:
            return Ignored(NAME, f"{event} tells of no issue")
        raise UnreadableTicketError(f"expected {JIRA.expects}")
    key = line(issue, "key", "id")
    status = line(issue, "fields.status.statusCategory.key", "fields.status").lower()
    is_resolved = bool(text(issue, "fields.resolution", "fields.resolutiondate"))
    if event in _GONE or status in _DONE or is_resolved:
        return Resolution(NAME, key, "")
    if event.startswith("comment_deleted"):
        return Ignored(NAME, "a comment that was deleted")
    if mapping(body, "comment"):
        return _read_comment(key, mapping(body, "comment"))
    if not line(issue, "fields.summary") and event:
        return Ignored(NAME, f"{event} tells nothing of the issue but its key")
    remarks = objects(issue, "fields.comment.comments")
    named = {
        "issue_type": line(issue, "fields.issuetype"),
        "project": line(issue, "fields.project.key"),
        "status": line(issue, "fields.status"),
        "priority": line(issue, "fields.priority"),
    }
    return draft(
        NAME,
        external_id=key,
        title=line(issue, "fields.summary"),
        description=paragraphs(
            _plain_text(at(issue, "fields.description")),
            _plain_text(at(issue, "fields.environment")),
            *(_plain_text(remark.get("body")) for remark in remarks),
        ),
        labels=labels_of(at(issue, "fields.labels")) | named,
        severity=line(issue, "fields.priority"),
        url=_url(issue),
        service=next(iter(names(issue, "fields.components", "fields.services")), ""),
        teams=names(issue, *_TEAMS),
    )


def _issue(body: Body) -> Mapping[str, Any] | None:
    for candidate in (mapping(body, "issue"), body):
        if isinstance(candidate.get("key"), str) and isinstance(candidate.get("fields"), Mapping):
            return candidate
    return None


def _read_comment(key: str, remark: Mapping[str, Any]) -> DeliveryItem:
    return make_comment(
        NAME,
        external_id=key,
        text=_plain_text(remark.get("body")),
        author=line(remark, "author", "author.emailAddress", "updateAuthor"),
        id_=line(remark, "id"),
        at=line(remark, "created"),
    )


def _plain_text(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return a text, or that of an Atlassian document: nodes with `content`, leaves with `text`."""
    if not isinstance(value, Mapping) or "content" not in value:
        return display_text(value)
    parts: list[str] = []
    waiting: list[Any] = [value]
    while waiting:  # a document may be nested deeper than calls may be
        node = waiting.pop()
        if isinstance(node, Mapping):
            kind = node.get("type")
            if kind == "hardBreak" or (isinstance(kind, str) and kind in _TEXT_BLOCKS):
                parts.append("\n")
            parts.append(display_text(node.get("text")) if kind == "text" else "")
            content = node.get("content")
            waiting += reversed(content) if isinstance(content, list) else []
    lines = "".join(f"{part} " if part.strip() else part for part in parts).splitlines()
    return "\n".join(filter(None, map(str.strip, lines)))


def _url(issue: Mapping[str, Any]) -> str:
    """Return the page of the issue, on the site whose API it names."""
    try:
        parts = urlsplit(line(issue, "self"))
    except ValueError:
        return ""
    key, is_site = line(issue, "key"), parts.scheme in {"http", "https"} and parts.netloc
    return f"{parts.scheme}://{parts.netloc}/browse/{key}" if key and is_site else ""


JIRA = Source(
    name=NAME,
    expects='{"webhookEvent": "jira:issue_created", "issue": {"key": …, "fields": {…}}}',
    matches=matches,
    read=read,
    is_first_report=lambda body: line(body, "webhookEvent").endswith("issue_created"),
    verify=by_signature(SIGNATURE, "sha256=", takes_token=True),
)
