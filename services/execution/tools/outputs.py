"""Parser of a tool's output: its fields, after secrets are redacted, or why it shows none."""

import json
import re
from collections.abc import Iterator, Mapping

import jmespath
from jmespath.exceptions import JMESPathError
from ntc_templates.parse import ParsingException, parse_output

from services.execution.tools.compare import Scalar, as_number
from services.execution.tools.tool import Output, OutputField, Tool
from services.kit.observability.redaction import redact
from services.kit.value import Value

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")

KEPT_LINES = 40
"""Most lines of an output that are stored as evidence beside its fields."""
KEPT_CHARACTERS = 4_000
WHOLE_HEAD, WHOLE_TAIL = 30, 60
"""First and last lines of an output that is stored as a whole, if it has more."""
WHOLE_CHARACTERS = 8_000

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


_PART = re.compile(
    r"^\s*(?:"
    r"(?:\.\.\.|…|\[\.\.\.\])?\s*\W?(?:and )?\d[\d,]* (?:more|further|other) "
    r"(?:lines?|rows?|items?|entries|records|results?|bytes|characters)\b.*"
    r"|\W{0,4}(?:(?:the )?(?:output|response|results?|log|list) (?:was |is |has been )?)?"
    r"truncated\b.{0,60}"
    r"|\W*-+ ?more ?-+\W*|\.\.\.|…|\[\.\.\.\]"
    r"|\W?showing (?:only )?(?:the )?(?:first |last )?\d[\d,]* (?:of|out of) \d.*"
    r")$",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines by which a text says that it is not whole."""
_PART_KEYS = {
    *("@odata.nextLink", "IsTruncated", "NextMarker", "NextToken", "_shards.failed", "continue"),
    *("hasMore", "has_more", "has_next", "incomplete_results", "metadata.continue"),
    *("metadata.remainingItemCount", "next", "nextLink", "nextPageToken", "nextToken"),
    *("next_cursor", "next_page", "next_page_token", "pagination.next", "partial", "timed_out"),
    *("truncated", "warnings"),
}
"""Keys of an answer that has only a part, if they have a value: the next page, failed shards."""
_OF_THE_WHOLE = re.compile(r"[(?*]|\[\]|\[-")
"""Signs of a JMESPath expression that counts, selects or looks from the end of a list."""
_ERROR_KEYS = ("error", "errors", "errorType", "fault")
_KEYS_OF_ERRORS = {
    *("code", "detail", "details", "error", "error_description", "errorType", "errors", "fault"),
    *("message", "path", "reason", "requestId", "request_id", "status", "statusCode", "success"),
    *("timestamp", "title", "trace_id", "traceId", "type"),
}


class ParsedOutput(Value):
    """Parsed output of a tool."""

    fields: Mapping[str, Scalar]
    lines: tuple[str, ...]
    """Lines in which the fields were matched; of an output without fields the first ones."""
    is_cut: bool = False
    """True if it was longer than what is parsed."""
    unseen: str = ""
    """The reason that it does not show what was asked for, without any field; empty if it does."""
    is_refused: bool = False
    """True if the target refused it, or says that it failed."""


def read_output(tool: Tool, raw: str, platform: str, *, is_whole: bool = False) -> ParsedOutput:
    """Return the fields of an output; a field that is not matched is left out.

    `is_whole`: all its lines are stored, of very many the first and the last ones.
    """
    encoded = raw.encode()
    is_cut = len(encoded) > tool.most_bytes
    text = clean_output(encoded[: tool.most_bytes].decode(errors="ignore"), tool.output)
    source = _parse(tool.output, text, platform)
    unseen, is_refused = _reason_unseen(tool, text, source, is_cut=is_cut)
    is_part = is_cut or _is_part(text, source)
    fields: dict[str, Scalar] = {}
    lines: list[str] = []
    missing: list[str] = []
    for name, field in {} if unseen else tool.output.fields.items():
        if is_part and not isinstance(source, str) and _OF_THE_WHOLE.search(field.find):
            continue
        value, at = _extract(field, source)
        if value is None:
            missing.append(name)
        elif not isinstance(value, dict):
            fields[name] = _typed(field, value)
            lines += at
    if not is_part and (fields or _finds_nothing(tool.output, text)):
        absent = {name: tool.output.fields[name] for name in missing}
        fields |= {n: _typed(f, f.absent) for n, f in absent.items() if f.absent is not None}
    if is_whole:
        non_empty = [line[:500] for line in text.splitlines() if line.strip()]
        if len(non_empty) > WHOLE_HEAD + WHOLE_TAIL:
            ends = [*non_empty[:WHOLE_HEAD], *non_empty[-WHOLE_TAIL:]]
        else:
            ends = non_empty
        whole = _first_lines(ends, WHOLE_CHARACTERS)
        is_cut = is_cut or len(whole) < len(non_empty)
        return ParsedOutput(
            fields=fields, lines=whole, is_cut=is_cut, unseen=unseen, is_refused=is_refused
        )
    matched = list(dict.fromkeys(lines)) or text.splitlines()
    kept = _first_lines([line[:500] for line in matched[:KEPT_LINES]], KEPT_CHARACTERS)
    return ParsedOutput(
        fields=fields, lines=kept, is_cut=is_cut, unseen=unseen, is_refused=is_refused
    )


def clean_output(text: str, output: Output) -> str:
    """Remove terminal escapes, control characters and secrets from a text."""
    plain = _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    for pattern in output.redact:
        plain = re.sub(pattern, "[redacted]", plain)
    return redact(plain)


def _parse(output: Output, text: str, platform: str) -> object:
    if output.parser == "text":
        return text
    try:
        if output.parser == "json":
            return json.loads(text)
        return parse_output(platform=platform, command=output.template, data=text)
    except (ValueError, RecursionError, ParsingException):
        return None


def _extract(field: OutputField, source: object) -> tuple[object, list[str]]:
    if isinstance(source, str):
        match = re.search(field.find, source, re.MULTILINE | re.IGNORECASE)
        if match is None:
            return None, []
        begin = source.rfind("\n", 0, match.start()) + 1
        at = source[begin : match.end()].splitlines()
        return (match.group(1) if match.re.groups else match.group()), at
    try:
        value = jmespath.search(field.find, source)
    except JMESPathError:
        return None, []
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else len(value) or None
    return value, []


def _typed(field: OutputField, value: object) -> Scalar:
    text = str(value).strip()
    if field.type == "boolean":
        return text.casefold() in {"true", "yes", "up", "1", "on", "enabled", "ok"}
    if field.type == "number":
        return as_number(text.replace(",", "").removesuffix("%"))
    return next((v for v in field.values if v.casefold() == text.casefold()), text)


def _first_lines(lines: list[str], characters: int) -> tuple[str, ...]:
    """Return the first lines, up to the one with which they have more than these characters."""
    kept: list[str] = []
    for line in lines:
        if sum(map(len, kept)) > characters:
            break
        kept.append(line)
    return tuple(kept)


def _reason_unseen(tool: Tool, text: str, parsed: object, *, is_cut: bool) -> tuple[str, bool]:
    """Return why a text does not show what was asked for, and whether it was refused.

    Args:
        tool: The tool, as the catalogue describes it.
        text: The answer.
        parsed: What its parser made of it; None if that failed.
        is_cut: The answer was longer than what is read.
    """
    if _finds_nothing(tool.output, text):
        return "", False
    is_text = tool.output.parser == "text"
    refusal = _REFUSAL.search(text)
    value = _as_json(text) if is_text else parsed
    lists = list(_lists(value))
    why, is_refused = "", False
    if refusal is not None:
        line = text[refusal.start() :].split("\n", 1)[0].strip()
        why, is_refused = f"it was refused: {line[:_LONGEST_QUOTE]}", True
    elif isinstance(value, dict) and _is_error(value):
        why, is_refused = f"it was refused: {_first_line(text)}", True
    elif not is_text and is_cut:
        why = "the answer was cut off"
    elif tool.way.by == "prometheus" and isinstance(value, dict) and value.get("warnings"):
        why = f"the answer has only a part: {str(value['warnings'])[:_LONGEST_QUOTE]}"
    elif not text.strip() or value in ([], {}) or text.strip() == "null":
        why = "the answer is empty, which may be for want of rights"
    elif value is None:
        why = f"the answer is no {tool.output.parser}: {_first_line(text)}"
    elif lists and not any(lists):
        why = "the list is empty, which may be for want of rights"
    return why, is_refused


def _is_part(text: str, parsed: object) -> bool:
    """Return True if an answer says that it has only a part, or that a part of it failed."""
    if isinstance(parsed, str):
        return _PART.search(text) is not None
    if not isinstance(parsed, dict):
        return False
    inner = {
        f"{name}.{key}": value
        for name, each in parsed.items()
        if isinstance(each, dict)
        for key, value in each.items()
    }
    is_part = any((parsed | inner).get(key) for key in _PART_KEYS)
    return is_part or any(parsed.get(key) for key in _ERROR_KEYS)


def _finds_nothing(output: Output, text: str) -> bool:
    """Return True if a text is how the tool says that it has looked and found nothing."""
    pattern = output.nothing
    return bool(pattern and re.search(pattern, text, re.MULTILINE | re.IGNORECASE))


def _is_error(answer: dict[str, object]) -> bool:
    """Return True if a JSON object says nothing but that something failed."""
    if answer.get("kind") == "Status":
        return answer.get("status") == "Failure"
    is_failed = any(answer.get(key) for key in _ERROR_KEYS)
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
