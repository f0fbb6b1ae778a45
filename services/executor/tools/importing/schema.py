"""JSON Schema as others write it: parameters and fields, as far as the catalogue can say them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from services.executor.tools.importing.imported import (
    is_credential,
    name_of,
    said,
    without_empty,
)

MOST_FIELDS = 20
"""Of one output."""
MOST_VALUES = 50
MOST_OF_A_PATTERN = 200
_DEEPEST = 2
"""Levels of an answer below which no field is looked for."""
_FORMATS = {
    "uuid": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "ipv4": r"\d{1,3}(\.\d{1,3}){3}",
    "date": r"\d{4}-\d{2}-\d{2}",
    "date-time": r"\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})",
}
_NUMBERS = ("integer", "number")
_GENERIC = frozenset({"id", "name", "type", "state", "status", "value", "key"})
"""Names that say too little for a label of a ticket to be meant."""

Schema = Mapping[str, Any]


class UnsaidError(ValueError):
    """The catalogue cannot say it; the message is the reason."""


def parameter_of(name: str, schema: Schema, description: str = "") -> dict[str, Any]:
    """A parameter of the catalogue.

    Raises:
        UnsaidError: It holds a credential, or is neither text nor number.
    """
    if is_credential(name):
        raise UnsaidError(f"{name} would hold a credential; a target names a file with it")
    schema = plain_of(schema)
    kind = schema.get("type", "string")
    if kind == "boolean":
        raise UnsaidError(f"{name} is true or false, which an argument cannot be")
    if kind not in {"string", *_NUMBERS}:
        raise UnsaidError(f"{name} is of the type {said(str(kind))}, which an argument cannot be")
    plain = name_of(name)
    found = {
        "description": said(description or str(schema.get("description", ""))),
        "type": "" if kind == "string" else kind,
        "pattern": r"-?\d{1,18}(\.\d{1,18})?" if kind in _NUMBERS else _pattern(schema),
        "values": _values(schema),
        "minimum": _number(schema, "minimum"),
        "maximum": _number(schema, "maximum"),
        "labels": [] if plain in _GENERIC else [plain],
    }
    return without_empty(found)


def fields_of(schema: Schema) -> dict[str, dict[str, Any]]:
    """The fields that an answer tells, by name: text, numbers, flags, and how long a list is."""
    found: dict[str, dict[str, Any]] = {}
    for path, told in _told_in(plain_of(schema), (), ""):
        name = name_of("_".join(path) or "answer")
        if name not in found and len(found) < MOST_FIELDS:
            found[name] = told
    return found


def plain_of(schema: Schema) -> Schema:
    """What is left of a choice between something and nothing: `anyOf: [T, null]` is T."""
    if not isinstance(schema, Mapping):
        return {}
    for word in ("anyOf", "oneOf", "allOf"):
        choices = [each for each in schema.get(word, ()) if isinstance(each, Mapping)]
        real = [each for each in choices if each.get("type") != "null"]
        if len(real) == 1:
            return {**schema, word: (), **plain_of(real[0])}
    kind = schema.get("type")
    if isinstance(kind, list):
        real_kinds = [each for each in kind if each != "null"]
        return {**schema, "type": real_kinds[0] if len(real_kinds) == 1 else str(kind)}
    return schema if kind else {**schema, "type": _guessed(schema)}


def _guessed(schema: Schema) -> str:
    if "properties" in schema:
        return "object"
    if any(schema.get(word) for word in ("anyOf", "oneOf", "allOf")):
        return "one of several"
    return "array" if "items" in schema else "string"


def _told_in(
    schema: Schema, path: tuple[str, ...], description: str
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    kind, find = schema.get("type"), ".".join(map(_word, path)) or "@"
    words = said(str(schema.get("description", ""))) or description
    if kind == "object" and len(path) <= _DEEPEST:
        for name, each in _properties(schema).items():
            if not is_credential(name):
                yield from _told_in(plain_of(each), (*path, name), name.replace("_", " "))
    elif kind == "array":
        how_many = f"how many {words or 'there are'}"
        yield (
            (*path, "count"),
            {"find": f"length({find})", "type": "number", "description": how_many},
        )
    elif kind in {"string", "boolean", *_NUMBERS} and path:
        of_type = {"string": "", "boolean": "boolean"}.get(str(kind), "number")
        told = {"find": find, "type": of_type, "description": words, "values": _values(schema)}
        yield path, without_empty(told)


def _properties(schema: Schema) -> Mapping[str, Schema]:
    told = schema.get("properties")
    return {str(k): v for k, v in told.items()} if isinstance(told, Mapping) else {}


def _word(name: str) -> str:
    """A name in JMESPath."""
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return name
    return '"' + re.sub(r'["\\]', "", name) + '"'


def _values(schema: Schema) -> list[str]:
    told = [schema["const"]] if "const" in schema else schema.get("enum", ())
    listed = [str(each) for each in told if isinstance(each, str | int | float)]
    return listed if len(listed) <= MOST_VALUES and all(map(str.isprintable, listed)) else []


def _pattern(schema: Schema) -> str:
    """What the whole value must match; of values that are listed, whatever stands there."""
    if _values(schema):
        return ".+"
    told = str(schema.get("pattern", ""))
    if not told or len(told) > MOST_OF_A_PATTERN:
        return _FORMATS.get(str(schema.get("format", "")), "")
    begins, ends = told.startswith("^"), told.endswith("$") and not told.endswith(r"\$")
    inner = told[begins : len(told) - ends]
    whole = f"{'' if begins else '.*'}(?:{inner}){'' if ends else '.*'}"
    try:
        re.compile(whole, re.ASCII)
    except re.error as error:
        raise UnsaidError(f"its pattern {said(told)} is none here: {error}") from error
    return whole


def _number(schema: Schema, name: str) -> float | None:
    told = schema.get(name)
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None
