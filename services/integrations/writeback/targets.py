"""Targets of write-back and their formats: one function for each, and one line in the list."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, HttpUrl, SecretStr

from services.integrations.writeback.note import Digest, TicketNote
from services.integrations.writeback.settings import WriteBackSettings
from services.kit.egress.guard import OutgoingRequest
from services.kit.errors import InvalidInputError

_TABLE = re.compile(r"[a-z][a-z0-9_]{0,79}")
_ISSUE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}-[0-9]{1,12}|[0-9]{1,18}")
"""Key or id of a Jira issue."""
_SYS_ID = re.compile(r"[0-9a-fA-F]{32}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_TICKET_FIELDS = {
    "id",
    "status",
    "reason",
    "source",
    "external_id",
    "occurrence",
    "title",
    "severity",
    "service",
    "url",
}
_WORKFLOW_FIELDS = {"id", "workflow", "fit", "against"}
_QUESTION_FIELDS = {"id", "turn", "question", "choices", "about"}
_EVENTS = {
    "workflow": "workflow.ready",
    "refusal": "ticket.refused",
    "question": "question.asked",
}
"""Event names of a callback by the first topic; for others the ticket's status is used."""
_PLAIN = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
"""Escapes of Slack's text: https://docs.slack.dev/messaging/formatting-message-text"""


class UnusableIdError(InvalidInputError):
    """The ticket has no id of the form that its system gives, so nothing is written there."""


@dataclass(frozen=True)
class WriteBackTarget:
    """System that can be notified."""

    name: str
    address: Callable[[WriteBackSettings], HttpUrl | None]
    request: Callable[[WriteBackSettings, TicketNote], OutgoingRequest]
    source: str = ""
    """Source whose tickets it follows, and whose comments answer; empty: it follows all."""
    notes: Callable[[WriteBackSettings, TicketNote], OutgoingRequest] | None = None
    """Request for the newest notes of the ticket; None if the system cannot be asked."""


def _jira(settings: WriteBackSettings, note: TicketNote, *, asks: bool = False) -> OutgoingRequest:
    """Build a comment: https://developer.atlassian.com/cloud/jira/platform/rest/v2/intro/."""
    path = f"/rest/api/2/issue/{_checked_id(_ISSUE, note)}/comment"
    login = _login(settings.jira_user, settings.jira_token, "Bearer")
    if asks:
        path += "?orderBy=-created&maxResults=50"
    body = None if asks else {"body": note.marked_text}
    return _json_request(note.key, settings.jira_url, path, body, login)


def _servicenow(
    settings: WriteBackSettings, note: TicketNote, *, asks: bool = False
) -> OutgoingRequest:
    """Build a work note for the Table API; the record's class is its table.

    The journal, which is asked, keeps each work note as a row of its own.
    """
    stated = note.ticket.labels.get("sys_class_name", "")
    table = stated if _TABLE.fullmatch(stated) else "incident"
    sys_id = _checked_id(_SYS_ID, note, note.ticket.labels.get("sys_id"))
    path, body = f"/api/now/table/{table}/{sys_id}", {"work_notes": note.marked_text}
    if asks:
        query = f"element_id={sys_id}^element=work_notes^ORDERBYDESCsys_created_on"
        fields = "sysparm_fields=value&sysparm_limit=50"
        path = f"/api/now/table/sys_journal_field?sysparm_query={quote(query)}&{fields}"
    login = _login(settings.servicenow_user, settings.servicenow_password, "Bearer")
    return _json_request(
        note.key, settings.servicenow_url, path, None if asks else body, login, method="PATCH"
    )


def _opsgenie(
    settings: WriteBackSettings, note: TicketNote, *, asks: bool = False
) -> OutgoingRequest:
    """Build a note: https://docs.opsgenie.com/docs/alert-api-continued."""
    path = f"/alerts/{_checked_id(_ID, note)}/notes{'?order=desc&limit=50' if asks else ''}"
    login = _login(settings.opsgenie_user, settings.opsgenie_key, "GenieKey")
    body = None if asks else {"note": note.marked_text}
    return _json_request(note.key, settings.opsgenie_url, path, body, login)


def _pagerduty(
    settings: WriteBackSettings, note: TicketNote, *, asks: bool = False
) -> OutgoingRequest:
    """Build a note on the incident: https://developer.pagerduty.com/api-reference/."""
    path = f"/incidents/{_checked_id(_ID, note)}/notes"
    token = settings.pagerduty_token.get_secret_value()
    login = {"authorization": f"Token token={token}", "from": settings.pagerduty_from}
    body = None if asks else {"note": {"content": note.marked_text}}
    return _json_request(note.key, settings.pagerduty_url, path, body, login)


def _chat(settings: WriteBackSettings, news: TicketNote | Digest) -> OutgoingRequest:
    body: object = {"text": "".join(_PLAIN.get(letter, letter) for letter in news.text)}
    if settings.chat_form == "teams":
        body = _card(news.headline, news.lines)
    return _json_request(news.key, settings.chat_url, "", body, {})


def _callback(settings: WriteBackSettings, note: TicketNote) -> OutgoingRequest:
    """Build the callback, signed."""
    ticket, question = note.ticket, note.ticket.open_question
    body = {
        "event": _EVENTS.get(note.parts[0].topic) or f"ticket.{ticket.status.value}",
        "ticket": ticket.model_dump(mode="json", include=_TICKET_FIELDS),
        "workflow": _object(note.stored, _WORKFLOW_FIELDS),
        "nearest": [near.model_dump(mode="json") for near in ticket.nearest],
        "triage": _object(ticket.triage),
        "question": _object(question, _QUESTION_FIELDS),
        "url": note.url,
    }
    unsigned = _json_request(note.key, settings.callback_url, "", body, {})
    return unsigned.signed(settings.callback_secret.get_secret_value())


def _object(model: BaseModel | None, fields: set[str] | None = None) -> dict[str, Any] | None:
    return model.model_dump(mode="json", include=fields) if model is not None else None


def _card(headline: str, texts: Iterable[str]) -> dict[str, Any]:
    """Build a card for https://learn.microsoft.com/en-us/connectors/teams/ (workflow webhooks)."""
    lines = [{"type": "TextBlock", "text": headline, "weight": "bolder", "wrap": True}]
    lines += [{"type": "TextBlock", "text": line, "wrap": True} for line in texts]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": lines,
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


def _json_request(
    key: str,
    base: HttpUrl | None,
    path: str,
    body: object,
    headers: dict[str, str],
    *,
    method: str = "POST",
) -> OutgoingRequest:
    """Build a request of this JSON; without a body, one that reads."""
    defaults = {"content-type": "application/json", "accept": "application/json"}
    named = {"idempotency-key": key}
    url = str(base).rstrip("/") + path if path else str(base)
    if body is None:
        return OutgoingRequest(url, {"accept": "application/json"} | headers, b"", "GET")
    return OutgoingRequest(url, defaults | named | headers, json.dumps(body).encode(), method)


def _login(user: str, secret: SecretStr, scheme: str) -> dict[str, str]:
    """Return the authorization: Basic with a user, else the secret behind the scheme."""
    password = secret.get_secret_value()
    if not user:
        return {"authorization": f"{scheme} {password}"}
    encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"authorization": f"Basic {encoded}"}


def _checked_id(form: re.Pattern[str], note: TicketNote, label: str | None = None) -> str:
    """Return a label's id, or that of the ticket in its own system, if it has this form."""
    text = label or note.ticket.external_id
    if text == note.ticket.id or not form.fullmatch(text):
        raise UnusableIdError(f"its source sent no id to write to, but {text[:40]!a}")
    return text


TARGETS = (
    WriteBackTarget(
        "jira", lambda settings: settings.jira_url, _jira, "jira", partial(_jira, asks=True)
    ),
    WriteBackTarget(
        "servicenow",
        lambda settings: settings.servicenow_url,
        _servicenow,
        "servicenow",
        partial(_servicenow, asks=True),
    ),
    WriteBackTarget(
        "opsgenie",
        lambda settings: settings.opsgenie_url,
        _opsgenie,
        "opsgenie",
        partial(_opsgenie, asks=True),
    ),
    WriteBackTarget(
        "pagerduty",
        lambda settings: settings.pagerduty_url,
        _pagerduty,
        "pagerduty",
        partial(_pagerduty, asks=True),
    ),
    WriteBackTarget("chat", lambda settings: settings.chat_url, _chat),
    WriteBackTarget("callback", lambda settings: settings.callback_url, _callback),
)


def _callback_digest(settings: WriteBackSettings, digest: Digest) -> OutgoingRequest:
    fields = {
        "week": digest.week,
        "pages": digest.pages,
        "reviews": digest.reviews,
        "url": digest.url,
    }
    body = {"event": "pages.to_mend", **fields}
    unsigned = _json_request(digest.key, settings.callback_url, "", body, {})
    return unsigned.signed(settings.callback_secret.get_secret_value())


DIGESTS: Mapping[str, Callable[[WriteBackSettings, Digest], OutgoingRequest]] = {
    "chat": _chat,
    "callback": _callback_digest,
}
"""Requests by target that send the weekly digest."""
