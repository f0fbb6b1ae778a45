"""What a tool's output tells: its fields, after what nobody may see is taken out."""

import json
import re
from collections.abc import Mapping

import jmespath
from jmespath.exceptions import JMESPathError
from ntc_templates.parse import ParsingException, parse_output

from services.executor.tools.compare import Scalar, number
from services.executor.tools.tool import Output, OutputField, Tool
from services.kit.observability.redaction import redacted
from services.kit.value import Value

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")

KEPT_LINES = 40
"""Lines of an output that are kept as evidence beside its fields."""
KEPT_CHARACTERS = 4_000
WHOLE_HEAD, WHOLE_TAIL = 30, 60
"""Of an output that is kept as a whole: its first and last lines, where it has more."""
WHOLE_CHARACTERS = 8_000


class Told(Value):
    """What a tool told."""

    fields: Mapping[str, Scalar]
    lines: tuple[str, ...]
    """The lines that the fields were found on; of an output without fields the first ones."""
    is_cut: bool = False
    """Whether it was longer than is looked at."""


def read_output(tool: Tool, raw: str, platform: str, *, is_whole: bool = False) -> Told:
    """The fields of an output, as far as they are found; what is not found is left out.

    `is_whole`: all its lines are kept, of very many the first and the last ones.
    """
    text = cleaned(raw[: tool.most_bytes], tool.output)
    source = _source(tool.output, text, platform)
    fields: dict[str, Scalar] = {}
    lines: list[str] = []
    for name, field in tool.output.fields.items():
        value, at = _find(field, source)
        if value is None:
            value = field.absent
        if value is not None:
            fields[name] = _typed(field, value)
            lines += at
    is_cut = len(raw) > tool.most_bytes
    if is_whole:
        told = [line[:500] for line in text.splitlines() if line.strip()]
        whole = _ends(told)
        return Told(fields=fields, lines=whole, is_cut=is_cut or len(whole) < len(told))
    kept = list(dict.fromkeys(lines)) or text.splitlines()
    return Told(fields=fields, lines=_short(kept), is_cut=is_cut)


def cleaned(text: str, output: Output) -> str:
    """Without terminal escapes, control characters and secrets."""
    plain = _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    for pattern in output.redact:
        plain = re.sub(pattern, "[redacted]", plain)
    return redacted(plain)


def _source(output: Output, text: str, platform: str) -> object:
    if output.parser == "text":
        return text
    try:
        if output.parser == "json":
            return json.loads(text)
        return parse_output(platform=platform, command=output.template, data=text)
    except (ValueError, RecursionError, ParsingException):
        return None


def _find(field: OutputField, source: object) -> tuple[object, list[str]]:
    if isinstance(source, str):
        found = re.search(field.find, source, re.MULTILINE | re.IGNORECASE)
        if found is None:
            return None, []
        begin = source.rfind("\n", 0, found.start()) + 1
        at = source[begin : found.end()].splitlines()
        return (found.group(1) if found.re.groups else found.group()), at
    try:
        value = jmespath.search(field.find, source)
    except JMESPathError:
        return None, []
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else len(value) or None
    return (None, []) if isinstance(value, dict) else (value, [])


def _typed(field: OutputField, value: object) -> Scalar:
    told = str(value).strip()
    if field.type == "boolean":
        return told.casefold() in {"true", "yes", "up", "1", "on", "enabled", "ok"}
    if field.type == "number":
        return number(told.replace(",", "").removesuffix("%"))
    return next((known for known in field.values if known.casefold() == told.casefold()), told)


def _short(lines: list[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for line in lines[:KEPT_LINES]:
        if sum(map(len, kept)) > KEPT_CHARACTERS:
            break
        kept.append(line[:500])
    return tuple(kept)


def _ends(lines: list[str]) -> tuple[str, ...]:
    if len(lines) > WHOLE_HEAD + WHOLE_TAIL:
        lines = [*lines[:WHOLE_HEAD], *lines[-WHOLE_TAIL:]]
    kept: list[str] = []
    for line in lines:
        if sum(map(len, kept)) > WHOLE_CHARACTERS:
            break
        kept.append(line)
    return tuple(kept)
