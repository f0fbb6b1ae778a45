"""Components from other descriptions: Keep's provider pages, and plain JSON."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from services.planner.composing.component import (
    Component,
    ComponentEffect,
    ComponentParameter,
    parse_type,
)

_BLOCK = re.compile(r"As \"(?P<as>step|action)\"[^\n]*\n```yaml\n(?P<yaml>.*?)```", re.DOTALL)
_WITH = re.compile(
    r"^\s{6,}(?P<name>[\w-]+): \{value\}\s*(?:#\s*(?P<description>.*))?$", re.MULTILINE
)
_FRONT_MATTER = re.compile(r"\A---\n(?P<yaml>.*?)\n---", re.DOTALL)
_PROVIDER = re.compile(r"^\s+provider: (?P<name>\S+)\s*$", re.MULTILINE)


def from_keep(snippet: str, page: str = "") -> Component | None:
    """Convert a provider of Keep from its generated snippet and page; None if no workflow uses it.

    Keep says of no parameter whether it is needed, so none is.
    """
    blocks = list(_BLOCK.finditer(snippet))
    named = _PROVIDER.search(snippet)
    if not blocks or named is None:
        return None
    parameters: dict[str, ComponentParameter] = {}
    for match in (each for block in blocks for each in _WITH.finditer(block["yaml"])):
        parameter = ComponentParameter(
            description=(match["description"] or "").strip(), required=False
        )
        existing = parameters.get(match["name"])
        if existing is None or not existing.description:
            parameters[match["name"]] = parameter
    changes = any(block["as"] == "action" for block in blocks)
    return Component(
        name=named["name"],
        description=_description(page) or named["name"],
        parameters=parameters,
        effect=ComponentEffect.CHANGE if changes else ComponentEffect.READ,
        source="keep",
    )


def from_json(objects: Iterable[Mapping[str, Any]], source: str) -> list[Component]:
    """Convert objects in the form that most lists of tools have.

    Known are `name` (or `api_name`, `id`), `description` (or `api_description`), `parameters` by
    name with `type`, `description`, `default`, `enum` (or `values`) and `required`; a list
    `required` beside them counts too. What has no name is left out.
    """
    return [made for each in objects if (made := _of_object(each, source)) is not None]


def _of_object(entry: Mapping[str, Any], source: str) -> Component | None:
    name = str(entry.get("name") or entry.get("api_name") or entry.get("id") or "").strip()
    if not name:
        return None
    needed = entry.get("required")
    needed = set(map(str, needed)) if isinstance(needed, list) else None
    described = entry.get("parameters")
    parameters = described if isinstance(described, Mapping) else {}
    effect = str(entry.get("effect", "")).casefold()
    return Component(
        name=name,
        description=str(entry.get("description") or entry.get("api_description") or "").strip(),
        parameters={
            str(key): _parameter(definition, None if needed is None else str(key) in needed)
            for key, definition in parameters.items()
            if isinstance(definition, Mapping)
        },
        effect=ComponentEffect.READ if effect == ComponentEffect.READ else ComponentEffect.CHANGE,
        source=source,
        tells=tuple(map(str, entry.get("responses") or ())),
    )


def _parameter(definition: Mapping[str, Any], needed: bool | None) -> ComponentParameter:
    default = definition.get("default")
    values = definition.get("enum") or definition.get("values") or ()
    return ComponentParameter(
        description=str(definition.get("description", "")).strip(),
        type=parse_type(definition.get("type")),
        required=bool(definition.get("required", False)) if needed is None else needed,
        default=None if default is None else str(default),
        values=tuple(map(str, values)) if isinstance(values, list | tuple) else (),
    )


def _description(page: str) -> str:
    match = _FRONT_MATTER.search(page)
    if match is None:
        return ""
    try:
        front_matter = yaml.safe_load(match["yaml"])
    except yaml.YAMLError:
        return ""
    if not isinstance(front_matter, Mapping):
        return ""
    return " ".join(str(front_matter.get("description") or front_matter.get("title") or "").split())
