"""Answers of targets that do not show what was asked for: refused, empty, of another form."""

import json
import re
from collections.abc import Iterator

from services.execution.tools.tool import Output

_LONGEST_QUOTE = 200
_REFUSAL = re.compile(
    r"^(?:"
    # kubectl and its kin
    r"Error from server\b|error: (?:You must be logged in|the server doesn't have a resource)"
    r"|The connection to the server \S+ was refused|Unable to connect to the server"
    # a shell and the programs of a host
    r"|[\w./-]+: (?:.*: )?(?:permission denied|operation not permitted|no such file or directory"
    r"|(?:command )?not found)\s*$|(?:got )?permission denied\b|sudo: .*\b(?:required|incorrect)"
    r"|sorry, user \S+ (?:is not allowed|may not)"
    r"|.*\bmust be (?:run as )?(?:root|superuser)\b.{0,40}$|failed to connect to bus\b"
    # the command line of a device
    r"|% ?(?:authorization failed|permission denied|invalid (?:input|command)|incomplete command"
    r"|unrecognized command|unknown command|access denied)|command authorization failed"
    r"|error: (?:permission denied|unauthorized)"
    # a database
    r"|ERROR: +(?:permission denied|must be owner)|psql: error:|ORA-\d{5}"
    r"|ERROR \d{4} \(\w{5}\).*\bdenied\b|\(error\) (?:NOAUTH|NOPERM|WRONGPASS)"
    # a cloud, an API, a tool of a server
    r"|An error occurred \(\w*(?:AccessDenied|Unauthorized|Forbidden|Expired)\w*\)"
    r"|(?:error:? )?(?:40[13]:? )?(?:forbidden|unauthorized|access denied)\s*\.?$"
    r"|<!doctype html|<html"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines by which a way of asking refuses; lines of logs begin with a time or a name instead."""


_KEYS_OF_ERRORS = {
    *("code", "detail", "details", "error", "error_description", "errorType", "errors", "fault"),
    *("message", "path", "reason", "requestId", "request_id", "status", "statusCode", "success"),
    *("timestamp", "title", "trace_id", "traceId", "type"),
}


def reason_unseen(output: Output, text: str, parsed: object, *, is_cut: bool) -> str:
    """Return why a text does not show what was asked for; empty if it does.

    Args:
        output: The tool's output, as the catalogue describes it.
        text: The answer.
        parsed: What its parser made of it; None if that failed.
        is_cut: The answer was longer than what is read.
    """
    if finds_nothing(output, text):
        return ""
    refusal = _REFUSAL.search(text)
    value = _as_json(text) if output.parser == "text" else parsed
    lists = list(_lists(value))
    why = ""
    if refusal is not None:
        line = text[refusal.start() :].split("\n", 1)[0].strip()
        why = f"it was refused: {line[:_LONGEST_QUOTE]}"
    elif isinstance(value, dict) and _is_error(value):
        why = f"it was refused: {_first_line(text)}"
    elif output.parser != "text" and is_cut:
        why = "the answer was cut off"
    elif not text.strip() or value in ([], {}) or text.strip() == "null":
        why = "the answer is empty, which may be for want of rights"
    elif value is None:
        why = f"the answer is no {output.parser}: {_first_line(text)}"
    elif lists and not any(lists):
        why = "the list is empty, which may be for want of rights"
    return why


def finds_nothing(output: Output, text: str) -> bool:
    """Return True if a text is how the tool says that it has looked and found nothing."""
    pattern = output.nothing
    return bool(pattern and re.search(pattern, text, re.MULTILINE | re.IGNORECASE))


def _is_error(answer: dict[str, object]) -> bool:
    """Return True if a JSON object says nothing but that something failed."""
    if answer.get("kind") == "Status":
        return answer.get("status") == "Failure"
    is_failed = any(answer.get(key) for key in ("error", "errors", "errorType", "fault"))
    return is_failed and answer.keys() <= _KEYS_OF_ERRORS


def _as_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _lists(value: object) -> Iterator[list[object]]:
    """Yield the lists in a JSON value, at any depth."""
    if isinstance(value, list):
        yield value
    members = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    for member in members:
        yield from _lists(member)


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0].strip()[:_LONGEST_QUOTE]
