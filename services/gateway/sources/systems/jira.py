"""Jira: webhooks about issues, the issue that an automation rule sends, and one of the REST API.

https://developer.atlassian.com/server/jira/platform/webhooks/
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from services.gateway.sources.comments import comment
from services.gateway.sources.delivery import (
    Body,
    Ignored,
    Reading,
    Resolution,
    Source,
    UnreadableTicketError,
)
from services.gateway.sources.fields import (
    at,
    draft,
    labels_of,
    line,
    mapping,
    names,
    objects,
    paragraphs,
    said,
    text,
)
from services.gateway.sources.proof import by_either, by_signature

NAME = "jira"

SIGNATURE = "X-Hub-Signature"

_TEAMS = ("fields.team", "fields.Team", "fields.customfield_10001")
"""Jira Cloud keeps an issue's team in the custom field of that number."""
_GONE = ("jira:issue_deleted", "issue_deleted")
_DONE = {"done", "closed", "resolved"}
_TEXT_BLOCKS = {"paragraph", "heading", "codeBlock", "listItem", "tableRow", "rule", "blockquote"}


def matches(body: Body) -> bool:
    """An issue with key and fields, inside an event or alone; or any event of a Jira webhook."""
    event = body.get("webhookEvent")
    return _issue(body) is not None or isinstance(event, str)


def read(body: Body) -> Reading:
    """A ticket for an open issue, a resolution for one that is done or deleted, or a comment."""
    issue, event = _issue(body), line(body, "webhookEvent")
    if issue is None:
        if event:
            return Ignored(NAME, f"{event} tells of no issue")
        raise UnreadableTicketError(f"expected {JIRA.expects}")
    key = line(issue, "key", "id")
    if event in _GONE or _is_done(issue):
        return Resolution(NAME, key, "")
    if event.startswith("comment_deleted"):
        return Ignored(NAME, "a comment that was deleted")
    if mapping(body, "comment"):
        return _read_comment(key, mapping(body, "comment"))
    if not line(issue, "fields.summary") and event:
        return Ignored(NAME, f"{event} tells nothing of the issue but its key")
    return draft(
        NAME,
        external_id=key,
        title=line(issue, "fields.summary"),
        description=_description(issue),
        labels=_labels(issue),
        severity=line(issue, "fields.priority"),
        url=_url(issue),
        service=next(iter(names(issue, "fields.components", "fields.services")), ""),
        teams=names(issue, *_TEAMS),
    )


def _issue(body: Body) -> Mapping[str, Any] | None:
    for found in (mapping(body, "issue"), body):
        if isinstance(found.get("key"), str) and isinstance(found.get("fields"), Mapping):
            return found
    return None


def _is_done(issue: Mapping[str, Any]) -> bool:
    status = line(issue, "fields.status.statusCategory.key", "fields.status").lower()
    return status in _DONE or bool(text(issue, "fields.resolution", "fields.resolutiondate"))


def _read_comment(key: str, remark: Mapping[str, Any]) -> Reading:
    return comment(
        NAME,
        external_id=key,
        text=_written(remark.get("body")),
        author=line(remark, "author", "author.emailAddress", "updateAuthor"),
        id_=line(remark, "id"),
        at=line(remark, "created"),
    )


def _description(issue: Mapping[str, Any]) -> str:
    """The description, then what was said about it so far."""
    remarks = objects(issue, "fields.comment.comments")
    return paragraphs(
        _written(at(issue, "fields.description")),
        _written(at(issue, "fields.environment")),
        *(_written(remark.get("body")) for remark in remarks),
    )


def _written(value: Any) -> str:  # noqa: ANN401 - JSON
    """Text, or the text of an Atlassian document: nodes with `content`, leaves with `text`."""
    if not isinstance(value, Mapping) or "content" not in value:
        return said(value)
    parts: list[str] = []
    waiting: list[Any] = [value]
    while waiting:  # a document may be nested deeper than calls may be
        node = waiting.pop()
        if isinstance(node, Mapping):
            kind = node.get("type")
            if kind == "hardBreak" or (isinstance(kind, str) and kind in _TEXT_BLOCKS):
                parts.append("\n")
            parts.append(said(node.get("text")) if kind == "text" else "")
            content = node.get("content")
            waiting += reversed(content) if isinstance(content, list) else []
    lines = "".join(f"{part} " if part.strip() else part for part in parts).splitlines()
    return "\n".join(filter(None, map(str.strip, lines)))


def _labels(issue: Mapping[str, Any]) -> dict[str, str]:
    named = {
        "issue_type": line(issue, "fields.issuetype"),
        "project": line(issue, "fields.project.key"),
        "status": line(issue, "fields.status"),
        "priority": line(issue, "fields.priority"),
    }
    return labels_of(at(issue, "fields.labels")) | named


def _url(issue: Mapping[str, Any]) -> str:
    """The page of the issue, on the site whose API it names."""
    parts = _http_parts(line(issue, "self"))
    key = line(issue, "key")
    return f"{parts.scheme}://{parts.netloc}/browse/{key}" if parts and key else ""


def _http_parts(url: str) -> SplitResult | None:
    """The parts of an http(s) URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return parts if parts.scheme in {"http", "https"} and parts.netloc else None


JIRA = Source(
    name=NAME,
    expects='{"webhookEvent": "jira:issue_created", "issue": {"key": …, "fields": {…}}}',
    matches=matches,
    read=read,
    verify=by_either(SIGNATURE, by_signature(SIGNATURE, "sha256=")),
)
