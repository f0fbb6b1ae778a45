"""Who is told, and in which form: one function for each system, and one line in the list."""

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, HttpUrl, SecretStr

from services.gateway.writeback.digest import Digest
from services.gateway.writeback.note import TicketNote
from services.gateway.writeback.settings import WriteBackSettings
from services.kit.http.outgoing import Outgoing

_TABLE = re.compile(r"[a-z][a-z0-9_]{0,79}")
_TOLD_OF_TICKET = {
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
_TOLD_OF_WORKFLOW = {"id", "workflow", "fit", "against"}
_TOLD_OF_QUESTION = {"id", "turn", "question", "choices", "about"}
_EVENTS = {
    "workflow": "workflow.ready",
    "refusal": "ticket.refused",
    "question": "question.asked",
}
"""What a callback is called, by the first of the news; of a team by what the ticket is then."""
_PLAIN = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
"""What Slack's text gives a meaning to: https://docs.slack.dev/messaging/formatting-message-text"""


@dataclass(frozen=True)
class Target:
    """A system that can be told."""

    name: str
    address: Callable[[WriteBackSettings], HttpUrl | None]
    request: Callable[[WriteBackSettings, TicketNote], Outgoing]
    source: str = ""
    """The source whose tickets it is told of, and whose comments answer; empty: told of all."""


def _jira(settings: WriteBackSettings, note: TicketNote) -> Outgoing:
    """A comment: https://developer.atlassian.com/cloud/jira/platform/rest/v2/intro/ says how."""
    path = f"/rest/api/2/issue/{_part(note.ticket.external_id)}/comment"
    login = _login(settings.jira_user, settings.jira_token, "Bearer")
    return _json(note.key, settings.jira_url, path, {"body": note.text}, login)


def _servicenow(settings: WriteBackSettings, note: TicketNote) -> Outgoing:
    """A work note, by the Table API; the record's class is its table."""
    labels = note.ticket.labels
    stated = labels.get("sys_class_name", "")
    table = stated if _TABLE.fullmatch(stated) else "incident"
    path = f"/api/now/table/{table}/{_part(labels.get('sys_id', note.ticket.external_id))}"
    login = _login(settings.servicenow_user, settings.servicenow_password, "Bearer")
    body = {"work_notes": note.text}
    return _json(note.key, settings.servicenow_url, path, body, login, method="PATCH")


def _opsgenie(settings: WriteBackSettings, note: TicketNote) -> Outgoing:
    """A note: https://docs.opsgenie.com/docs/alert-api-continued says how."""
    path = f"/alerts/{_part(note.ticket.external_id)}/notes"
    login = _login(settings.opsgenie_user, settings.opsgenie_key, "GenieKey")
    return _json(note.key, settings.opsgenie_url, path, {"note": note.text}, login)


def _pagerduty(settings: WriteBackSettings, note: TicketNote) -> Outgoing:
    """A note on the incident: https://developer.pagerduty.com/api-reference/ says how."""
    path = f"/incidents/{_part(note.ticket.external_id)}/notes"
    token = settings.pagerduty_token.get_secret_value()
    login = {"authorization": f"Token token={token}", "from": settings.pagerduty_from}
    return _json(note.key, settings.pagerduty_url, path, {"note": {"content": note.text}}, login)


def _chat(settings: WriteBackSettings, note: TicketNote) -> Outgoing:
    return _json(
        note.key, settings.chat_url, "", _said(settings, note.headline, note.lines, note.text), {}
    )


def _said(settings: WriteBackSettings, headline: str, lines: Iterable[str], text: str) -> object:
    if settings.chat_form == "teams":
        return _card(headline, lines)
    return {"text": _escaped(text)}


def _callback(settings: WriteBackSettings, note: TicketNote) -> Outgoing:
    """Signed over time and body, so that whoever keeps a copy cannot send it later."""
    ticket, asked = note.ticket, note.ticket.open_question
    body = {
        "event": _EVENTS.get(note.parts[0].topic) or f"ticket.{ticket.status.value}",
        "ticket": ticket.model_dump(mode="json", include=_TOLD_OF_TICKET),
        "workflow": _object(note.stored, _TOLD_OF_WORKFLOW),
        "nearest": [near.model_dump(mode="json") for near in ticket.nearest],
        "triage": _object(ticket.triage),
        "question": _object(asked, _TOLD_OF_QUESTION),
        "url": note.url,
    }
    return _signed(settings, _json(note.key, settings.callback_url, "", body, {}))


def _signed(settings: WriteBackSettings, unsigned: Outgoing) -> Outgoing:
    """Over time and body."""
    seconds = str(int(time.time()))
    secret = settings.callback_secret.get_secret_value().encode()
    signed = hmac.new(secret, seconds.encode() + b"." + unsigned.body, hashlib.sha256).hexdigest()
    proof = {"x-flowxpert-timestamp": seconds, "x-flowxpert-signature": f"v1={signed}"}
    return Outgoing(unsigned.url, unsigned.headers | proof, unsigned.body)


def _object(noun: BaseModel | None, fields: set[str] | None = None) -> dict[str, Any] | None:
    return noun.model_dump(mode="json", include=fields) if noun is not None else None


def _card(headline: str, told: Iterable[str]) -> dict[str, Any]:
    """An adaptive card: https://learn.microsoft.com/en-us/connectors/teams/ (workflow webhooks)."""
    lines = [{"type": "TextBlock", "text": headline, "weight": "bolder", "wrap": True}]
    lines += [{"type": "TextBlock", "text": line, "wrap": True} for line in told]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": lines,
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


def _json(
    key: str,
    base: HttpUrl | None,
    path: str,
    body: object,
    headers: dict[str, str],
    *,
    method: str = "POST",
) -> Outgoing:
    told = {"content-type": "application/json", "accept": "application/json"}
    named = {"idempotency-key": key}
    url = str(base).rstrip("/") + path if path else str(base)
    return Outgoing(url, told | named | headers, json.dumps(body).encode(), method)


def _login(user: str, secret: SecretStr, scheme: str) -> dict[str, str]:
    """Basic with a user, else the secret behind the scheme."""
    said = secret.get_secret_value()
    if not user:
        return {"authorization": f"{scheme} {said}"}
    encoded = base64.b64encode(f"{user}:{said}".encode()).decode()
    return {"authorization": f"Basic {encoded}"}


def _part(text: str) -> str:
    """The text as one part of a path, whatever it holds."""
    return quote(text, safe="").replace(".", "%2E")


def _escaped(text: str) -> str:
    return "".join(_PLAIN.get(letter, letter) for letter in text)


TARGETS = (
    Target("jira", lambda settings: settings.jira_url, _jira, "jira"),
    Target(
        "servicenow", lambda settings: settings.servicenow_url, _servicenow, source="servicenow"
    ),
    Target("opsgenie", lambda settings: settings.opsgenie_url, _opsgenie, "opsgenie"),
    Target("pagerduty", lambda settings: settings.pagerduty_url, _pagerduty, "pagerduty"),
    Target("chat", lambda settings: settings.chat_url, _chat),
    Target("callback", lambda settings: settings.callback_url, _callback),
)


def _chat_digest(settings: WriteBackSettings, digest: Digest) -> Outgoing:
    body = _said(settings, digest.headline, digest.lines, digest.text)
    return _json(f"digest:{digest.week}", settings.chat_url, "", body, {})


def _callback_digest(settings: WriteBackSettings, digest: Digest) -> Outgoing:
    told = {"week": digest.week, "pages": digest.pages, "url": digest.url}
    body = {"event": "pages.to_mend", **told}
    return _signed(settings, _json(f"digest:{digest.week}", settings.callback_url, "", body, {}))


DIGESTS: Mapping[str, Callable[[WriteBackSettings, Digest], Outgoing]] = {
    "chat": _chat_digest,
    "callback": _callback_digest,
}
"""Targets that are told of pages, too."""
