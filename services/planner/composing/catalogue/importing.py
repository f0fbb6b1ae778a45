"""Components from other descriptions: Keep's provider pages, and plain JSON."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from services.planner.composing.catalogue.component import Component, Effect, Parameter, type_named

_BLOCK = re.compile(r"As \"(?P<as>step|action)\"[^\n]*\n```yaml\n(?P<yaml>.*?)```", re.DOTALL)
_WITH = re.compile(
    r"^\s{6,}(?P<name>[\w-]+): \{value\}\s*(?:#\s*(?P<description>.*))?$", re.MULTILINE
)
_FRONT_MATTER = re.compile(r"\A---\n(?P<yaml>.*?)\n---", re.DOTALL)
_PROVIDER = re.compile(r"^\s+provider: (?P<name>\S+)\s*$", re.MULTILINE)


def of_keep(snippet: str, page: str = "") -> Component | None:
    """A provider of Keep, of its generated snippet and its page; None where no workflow uses it.

    Keep says of no parameter whether it is needed, so none is.
    """
    blocks = list(_BLOCK.finditer(snippet))
    named = _PROVIDER.search(snippet)
    if not blocks or named is None:
        return None
    parameters: dict[str, Parameter] = {}
    for found in (each for block in blocks for each in _WITH.finditer(block["yaml"])):
        told = Parameter(description=(found["description"] or "").strip(), required=False)
        known = parameters.get(found["name"])
        if known is None or not known.description:
            parameters[found["name"]] = told
    changes = any(block["as"] == "action" for block in blocks)
    return Component(
        name=named["name"],
        description=_description(page) or named["name"],
        parameters=parameters,
        effect=Effect.CHANGE if changes else Effect.READ,
        source="keep",
    )


def of_json(given: Iterable[Mapping[str, Any]], source: str) -> list[Component]:
    """Components of objects such as most lists of tools hold.

    Known are `name` (or `api_name`, `id`), `description` (or `api_description`), `parameters` by
    name with `type`, `description`, `default`, `enum` (or `values`) and `required`; a list
    `required` beside them counts too. What has no name is left out.
    """
    return [made for each in given if (made := _of_object(each, source)) is not None]


def _of_object(given: Mapping[str, Any], source: str) -> Component | None:
    name = str(given.get("name") or given.get("api_name") or given.get("id") or "").strip()
    if not name:
        return None
    needed = given.get("required")
    needed = set(map(str, needed)) if isinstance(needed, list) else None
    described = given.get("parameters")
    parameters = described if isinstance(described, Mapping) else {}
    effect = str(given.get("effect", "")).casefold()
    return Component(
        name=name,
        description=str(given.get("description") or given.get("api_description") or "").strip(),
        parameters={
            str(key): _parameter(told, None if needed is None else str(key) in needed)
            for key, told in parameters.items()
            if isinstance(told, Mapping)
        },
        effect=Effect.READ if effect == Effect.READ else Effect.CHANGE,
        source=source,
        tells=tuple(map(str, given.get("responses") or ())),
    )


def _parameter(told: Mapping[str, Any], needed: bool | None) -> Parameter:
    default = told.get("default")
    values = told.get("enum") or told.get("values") or ()
    return Parameter(
        description=str(told.get("description", "")).strip(),
        type=type_named(told.get("type")),
        required=bool(told.get("required", False)) if needed is None else needed,
        default=None if default is None else str(default),
        values=tuple(map(str, values)) if isinstance(values, list | tuple) else (),
    )


def _description(page: str) -> str:
    found = _FRONT_MATTER.search(page)
    if found is None:
        return ""
    try:
        told = yaml.safe_load(found["yaml"])
    except yaml.YAMLError:
        return ""
    if not isinstance(told, Mapping):
        return ""
    return " ".join(str(told.get("description") or told.get("title") or "").split())
