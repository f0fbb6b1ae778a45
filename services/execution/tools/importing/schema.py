"""Conversion of foreign JSON Schema to the catalogue's parameters and fields."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from services.execution.tools.importing.entries import (
    drop_empty,
    is_credential,
    sanitise,
    to_snake_case,
)

MOST_FIELDS = 20
"""Most fields of one output."""
MOST_VALUES = 50
MOST_OF_A_PATTERN = 200
_DEEPEST = 2
"""Deepest level of an answer at which fields are read."""
_FORMATS = {
    "uuid": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "ipv4": r"\d{1,3}(\.\d{1,3}){3}",
    "date": r"\d{4}-\d{2}-\d{2}",
    "date-time": r"\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})",
}
_NUMBERS = ("integer", "number")
_GENERIC = frozenset({"id", "name", "type", "state", "status", "value", "key"})
"""Names that are too general for a label of a ticket."""

Schema = Mapping[str, Any]


class InexpressibleError(ValueError):
    """Error of a schema that the catalogue cannot express; the message is the reason."""


def to_parameter(name: str, schema: Schema, description: str = "") -> dict[str, Any]:
    """Convert a schema to a parameter of the catalogue.

    Raises:
        InexpressibleError: It holds a credential, or is neither text nor number.
    """
    if is_credential(name):
        raise InexpressibleError(f"{name} would hold a credential; a target names a file with it")
    schema = resolve_optional(schema)
    kind = schema.get("type", "string")
    if kind == "boolean":
        raise InexpressibleError(f"{name} is true or false, which an argument cannot be")
    if kind not in {"string", *_NUMBERS}:
        raise InexpressibleError(
            f"{name} is of the type {sanitise(str(kind))}, which an argument cannot be"
        )
    plain = to_snake_case(name)
    parameter = {
        "description": sanitise(description or str(schema.get("description", ""))),
        "type": "" if kind == "string" else kind,
        "pattern": r"-?\d{1,18}(\.\d{1,18})?" if kind in _NUMBERS else _pattern(schema),
        "values": _values(schema),
        "minimum": _number(schema, "minimum"),
        "maximum": _number(schema, "maximum"),
        "labels": [] if plain in _GENERIC else [plain],
    }
    return drop_empty(parameter)


def to_fields(schema: Schema) -> dict[str, dict[str, Any]]:
    """Return the fields of an answer by name: text, numbers, flags, and lengths of lists."""
    fields: dict[str, dict[str, Any]] = {}
    for path, field in _iter_fields(resolve_optional(schema), (), ""):
        name = to_snake_case("_".join(path) or "answer")
        if name not in fields and len(fields) < MOST_FIELDS:
            fields[name] = field
    return fields


def resolve_optional(schema: Schema) -> Schema:
    """Resolve a choice between something and nothing: `anyOf: [T, null]` is T."""
    if not isinstance(schema, Mapping):
        return {}
    for word in ("anyOf", "oneOf", "allOf"):
        choices = [each for each in schema.get(word, ()) if isinstance(each, Mapping)]
        real = [each for each in choices if each.get("type") != "null"]
        if len(real) == 1:
            return {**schema, word: (), **resolve_optional(real[0])}
    kind = schema.get("type")
    if isinstance(kind, list):
        real_kinds = [each for each in kind if each != "null"]
        return {**schema, "type": real_kinds[0] if len(real_kinds) == 1 else str(kind)}
    if kind:
        return schema
    if "properties" in schema:
        kind = "object"
    elif any(schema.get(word) for word in ("anyOf", "oneOf", "allOf")):
        kind = "one of several"
    else:
        kind = "array" if "items" in schema else "string"
    return {**schema, "type": kind}


def _iter_fields(
    schema: Schema, path: tuple[str, ...], description: str
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    kind, find = schema.get("type"), ".".join(map(_jmespath_name, path)) or "@"
    words = sanitise(str(schema.get("description", ""))) or description
    if kind == "object" and len(path) <= _DEEPEST:
        properties = schema.get("properties")
        for key, each in properties.items() if isinstance(properties, Mapping) else ():
            if not is_credential(name := str(key)):
                words = name.replace("_", " ")
                yield from _iter_fields(resolve_optional(each), (*path, name), words)
    elif kind == "array":
        how_many = f"how many {words or 'there are'}"
        yield (
            (*path, "count"),
            {"find": f"length({find})", "type": "number", "description": how_many},
        )
    elif kind in {"string", "boolean", *_NUMBERS} and path:
        of_type = {"string": "", "boolean": "boolean"}.get(str(kind), "number")
        field = {"find": find, "type": of_type, "description": words, "values": _values(schema)}
        yield path, drop_empty(field)


def _jmespath_name(name: str) -> str:
    """Quote a name for JMESPath."""
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return name
    return '"' + re.sub(r'["\\]', "", name) + '"'


def _values(schema: Schema) -> list[str]:
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    listed = [str(each) for each in values if isinstance(each, str | int | float)]
    return listed if len(listed) <= MOST_VALUES and all(map(str.isprintable, listed)) else []


def _pattern(schema: Schema) -> str:
    """Return the pattern of the whole value; with listed values any text matches."""
    if _values(schema):
        return ".+"
    pattern = str(schema.get("pattern", ""))
    if not pattern or len(pattern) > MOST_OF_A_PATTERN:
        return _FORMATS.get(str(schema.get("format", "")), "")
    begins, ends = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith(r"\$")
    inner = pattern[begins : len(pattern) - ends]
    whole = f"{'' if begins else '.*'}(?:{inner}){'' if ends else '.*'}"
    try:
        re.compile(whole, re.ASCII)
    except re.error as error:
        raise InexpressibleError(
            f"its pattern {sanitise(pattern)} is none here: {error}"
        ) from error
    return whole


def _number(schema: Schema, name: str) -> float | None:
    value = schema.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
