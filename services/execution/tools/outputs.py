"""Parser of a tool's output: its fields, after secrets are redacted, or why it shows none."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

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
    r"|unable to retrieve container logs for"
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
    r"|(?:\(error\) )?(?:LOADING Redis is|MASTERDOWN Link|CLUSTERDOWN )"
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
    r"|type \"it\" for more|\w+: NULL"
    r")$"
    r"|<(?:unknown|insufficient privilege|not available|redacted)>",
    re.IGNORECASE | re.MULTILINE,
)
"""Signs that a text is not whole, or that a value in it could not be read."""
_PAGE_KEY = re.compile(
    r"(?:(?:_?links|meta(?:data)?|pag(?:e|ing|ination)|page_?info|response_metadata)\.)?"
    r"(?:@?[\w.]*next_?(?:link|marker|token|page|cursor|page_?token)|next|continue"
    r"|has_?(?:more|next)(?:_?page)?|remainingItemCount|is_?truncated|truncated)",
    re.IGNORECASE,
)
"""Keys that have a value where more entries are on a next page."""
_FAILURE_KEY = re.compile(
    r"(?:.*\.)?(?:(?:is_?)?(?:incomplete|partial)(?:_?(?:results?|response|data))?|timed_?out)"
    r"|_shards\.failed|warnings",
    re.IGNORECASE,
)
"""Keys that have a value where a part could not be looked at."""
_FAILURE_VALUE = re.compile(r'"(?:partial(?:data|results?|content)|incomplete)"', re.IGNORECASE)
_STALE = re.compile(r"warning: 11\d\b", re.IGNORECASE)
_NEXT_PAGE = re.compile(r"(?:link|x-next-page|x-has-more): ", re.IGNORECASE)
_ERROR_NOTICE = re.compile(r"(?:^|[\s:])(?:error|fatal)\s*:", re.IGNORECASE)
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


class _PartSign(NamedTuple):
    """Sign that an answer has only a part of what was looked for."""

    sign: str
    is_page: bool = False
    """True if the rest is on a next page; else a part could not be looked at."""


_CUT = _PartSign("it was cut off", is_page=True)


def read_output(
    tool: Tool, raw: str, platform: str, *, notices: Sequence[str] = (), is_whole: bool = False
) -> ParsedOutput:
    """Return the fields of an output; a field that is not matched is left out.

    Of a part nothing is known that is counted or selected in it, nor that something is not there.

    Args:
        tool: The tool, as the catalogue describes it.
        raw: The answer; of a host with its stderr.
        platform: Platform of the target, as ntc-templates knows it.
        notices: What the target said beside the answer; see `TargetAnswer`.
        is_whole: Store all its lines, of very many the first and the last ones.
    """
    encoded = raw.encode()
    is_cut = len(encoded) > tool.most_bytes
    text = clean_output(encoded[: tool.most_bytes].decode(errors="ignore"), tool.output)
    source = _parse(tool.output, text, platform)
    beside = [
        each
        for each in clean_output("\n".join(notices), tool.output).splitlines()
        if each.strip() and not _matches(tool.output.noise, each)
    ]
    part = _CUT if is_cut else _part(tool, text, source, beside)
    unseen, is_refused = _reason_unseen(tool, text, source, beside, part)
    fields: dict[str, Scalar] = {}
    lines: list[str] = []
    missing: list[str] = []
    for name, field in {} if unseen else tool.output.fields.items():
        if part and not isinstance(source, str) and _OF_THE_WHOLE.search(field.find):
            continue
        value, at = _extract(field, source)
        typed = None if value is None or isinstance(value, dict) else _typed(field, value)
        if value is None:
            missing.append(name)
        elif not (typed is None or _is_partial_number(typed, source, part)):
            fields[name] = typed
            lines += at
    if part is None and (fields or _matches(tool.output.nothing, text)):
        absent = {name: tool.output.fields[name] for name in missing}
        fields |= {n: _typed(f, f.absent) for n, f in absent.items() if f.absent is not None}
    if is_whole:
        non_empty = [line[:500] for line in text.splitlines() if line.strip()]
        if len(non_empty) > WHOLE_HEAD + WHOLE_TAIL:
            ends = [*non_empty[:WHOLE_HEAD], *non_empty[-WHOLE_TAIL:]]
        else:
            ends = non_empty
        kept = _first_lines(ends, WHOLE_CHARACTERS)
        is_cut = is_cut or len(kept) < len(non_empty)
    else:
        matched = list(dict.fromkeys(lines)) or text.splitlines()
        kept = _first_lines([line[:500] for line in matched[:KEPT_LINES]], KEPT_CHARACTERS)
    if part and not is_cut:
        kept = (f"only a part was seen: {part.sign}", *kept)
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


def _reason_unseen(
    tool: Tool, text: str, parsed: object, beside: Sequence[str], part: _PartSign | None
) -> tuple[str, bool]:
    """Return why a text does not show what was looked for, and whether it was refused.

    Args:
        tool: The tool, as the catalogue describes it.
        text: The answer.
        parsed: What its parser made of it; None if that failed.
        beside: What the target said beside it, by line.
        part: The sign that it is not whole.
    """
    if (reason := _reason_by_notices(tool.output, text, beside)) is not None:
        return reason
    finds_nothing = _matches(tool.output.nothing, text)
    if finds_nothing and part is None:
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
    elif part and (finds_nothing or tool.way.by == "prometheus" or (part is _CUT and not is_text)):
        why = f"only a part was seen: {part.sign}"
    elif not text.strip() or value in ([], {}) or text.strip() == "null":
        why = "the answer is empty, which may be for want of rights"
    elif value is None:
        why = f"the answer is no {tool.output.parser}: {_first_line(text)}"
    elif lists and not any(lists):
        why = "the list is empty, which may be for want of rights"
    return why, is_refused


def _reason_by_notices(output: Output, text: str, beside: Sequence[str]) -> tuple[str, bool] | None:
    """Return why a target did not show it by its own words, and whether it was refused; or None."""
    for each in (text, *beside):
        if _matches(output.unseen, each):
            return f"it was not all to be seen: {_matching_line(output.unseen, each)}", False
    for each in beside:
        if _ERROR_NOTICE.search(each):
            return f"it was refused: {each[:_LONGEST_QUOTE]}", True
        if _STALE.match(each):
            return f"it is not of now: {each[:_LONGEST_QUOTE]}", False
    return None


def _part(tool: Tool, text: str, parsed: object, beside: Sequence[str]) -> _PartSign | None:
    """Return the sign that an answer has only a part, or that a part of it failed."""
    parts: list[_PartSign] = []
    if isinstance(parsed, str):
        match = _PART.search(text)
        parts += [_PartSign(_matching_line(match.re.pattern, text))] if match else []
    elif isinstance(parsed, dict):
        inner = {
            f"{name}.{key}": value
            for name, each in parsed.items()
            if isinstance(each, dict)
            for key, value in each.items()
        }
        values = {key: value for key, value in (parsed | inner).items() if value}
        signs = {key: f"{key}: {str(value)[:_LONGEST_QUOTE]}" for key, value in values.items()}
        failed = [k for k in values if k in _ERROR_KEYS or _FAILURE_KEY.fullmatch(k)]
        paged = [key for key in values if _PAGE_KEY.fullmatch(key)]
        parts += [_PartSign(signs[key]) for key in failed]
        parts += [_PartSign(match.group()) for match in _FAILURE_VALUE.finditer(text)]
        parts += [_PartSign(signs[key], is_page=True) for key in paged]
    parts += [
        _PartSign(each[:_LONGEST_QUOTE], is_page=bool(_NEXT_PAGE.match(each)))
        for each in beside
        if not _matches(tool.output.nothing, each)
    ]
    return min(parts, key=lambda each: each.is_page, default=None)


def _is_partial_number(value: Scalar, source: object, part: _PartSign | None) -> bool:
    """Return True for a number that is none, or that was counted where a part was not looked at."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    is_of_a_part = part is not None and not part.is_page
    return math.isnan(value) or (is_of_a_part and not (isinstance(source, str) and value))


def _matches(pattern: str, text: str) -> bool:
    return bool(pattern and re.search(pattern, text, re.MULTILINE | re.IGNORECASE))


def _matching_line(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE | re.IGNORECASE)
    begin = text.rfind("\n", 0, match.start()) + 1 if match else 0
    return _first_line(text[begin:])


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
