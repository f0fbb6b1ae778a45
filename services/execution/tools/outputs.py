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


def read_output(tool: Tool, raw: str, platform: str, *, is_whole: bool = False) -> ParsedOutput:
    """Return the fields of an output; a field that is not matched is left out.

    `is_whole`: all its lines are stored, of very many the first and the last ones.
    """
    text = clean_output(raw[: tool.most_bytes], tool.output)
    is_cut = len(raw) > tool.most_bytes
    source = _parse(tool.output, text, platform)
    unseen = _reason_unseen(tool.output, text, source, is_cut=is_cut)
    matches = {} if unseen else {n: _extract(f, source) for n, f in tool.output.fields.items()}
    is_matched = any(value is not None for value, _ in matches.values())
    may_be_absent = not is_cut and (is_matched or _finds_nothing(tool.output, text))
    fields: dict[str, Scalar] = {}
    lines: list[str] = []
    for name, (value, at) in matches.items():
        field = tool.output.fields[name]
        shown = field.absent if value is None and may_be_absent else value
        if shown is not None:
            fields[name] = _typed(field, shown)
            lines += at
    if is_whole:
        non_empty = [line[:500] for line in text.splitlines() if line.strip()]
        if len(non_empty) > WHOLE_HEAD + WHOLE_TAIL:
            ends = [*non_empty[:WHOLE_HEAD], *non_empty[-WHOLE_TAIL:]]
        else:
            ends = non_empty
        whole = _first_lines(ends, WHOLE_CHARACTERS)
        is_cut = is_cut or len(whole) < len(non_empty)
        return ParsedOutput(fields=fields, lines=whole, is_cut=is_cut, unseen=unseen)
    matched = list(dict.fromkeys(lines)) or text.splitlines()
    kept = _first_lines([line[:500] for line in matched[:KEPT_LINES]], KEPT_CHARACTERS)
    return ParsedOutput(fields=fields, lines=kept, is_cut=is_cut, unseen=unseen)


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
    return (None, []) if isinstance(value, dict) else (value, [])


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


def _reason_unseen(output: Output, text: str, parsed: object, *, is_cut: bool) -> str:
    """Return why a text does not show what was asked for; empty if it does.

    Args:
        output: The tool's output, as the catalogue describes it.
        text: The answer.
        parsed: What its parser made of it; None if that failed.
        is_cut: The answer was longer than what is read.
    """
    if _finds_nothing(output, text):
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


def _finds_nothing(output: Output, text: str) -> bool:
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
