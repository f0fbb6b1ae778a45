"""Tools of an OpenAPI description: operations become requests, their answers become fields."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from services.executor.tools.importing.imported import (
    Entries,
    Imported,
    distinct,
    effect_of_named,
    name_of,
)
from services.executor.tools.importing.schema import (
    UnsaidError,
    fields_of,
    parameter_of,
    plain_of,
)
from services.kit.errors import InvalidInputError

METHODS = ("get", "post", "put", "patch", "delete")
_OTHERS = ("head", "options", "trace")
_DEEPEST = 20
"""References that are followed from one place."""
_LEVELS = 4
"""Of a schema."""
MOST_NODES = 5_000
"""Parts of schemas that are looked at for one operation: they may contain themselves."""
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json")

Node = Mapping[str, Any]


class NoDescriptionError(InvalidInputError):
    """The file is no OpenAPI description."""


def tools_of_openapi(path: Path, kind: str) -> Imported:
    """Entries for targets of a kind; addresses and credentials of the file are not looked at.

    Raises:
        NoDescriptionError: The file cannot be read as one.
    """
    try:
        told = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise NoDescriptionError(f"{path.name} cannot be read: {type(error).__name__}") from error
    if not isinstance(told, Mapping) or not isinstance(told.get("paths"), Mapping):
        raise NoDescriptionError(f"{path.name} has no paths of an OpenAPI description")
    return _Description(told, kind).imported()


class _Description:
    def __init__(self, whole: Node, kind: str) -> None:
        self._whole = whole
        self._entries = Entries(kind)
        self._left = MOST_NODES

    def imported(self) -> Imported:
        for path, item in self._whole["paths"].items():
            for method, operation in self._operations(str(path), self._at(item)):
                name = str(operation.get("operationId") or f"{method} {path}")
                self._left = MOST_NODES
                try:
                    self._add(name, method, str(path), operation)
                except UnsaidError as error:
                    self._entries.leave_out(name, str(error))
        return self._entries.imported()

    def _operations(self, path: str, item: Node) -> Iterator[tuple[str, Node]]:
        for method in (*METHODS, *_OTHERS):
            if not isinstance(item.get(method), Mapping):
                continue
            if method in _OTHERS:
                self._entries.leave_out(f"{method} {path}", "no method of the catalogue")
                continue
            both = {**item[method], "parameters": self._parameters(item, item[method])}
            yield method, both

    def _parameters(self, item: Node, operation: Node) -> list[Node]:
        """Of the operation, and those of its path that it does not tell otherwise."""
        found: dict[tuple[str, str], Node] = {}
        for each in (*_listed(item, "parameters"), *_listed(operation, "parameters")):
            told = self._at(each)
            found[str(told.get("in")), str(told.get("name"))] = told
        return list(found.values())

    def _add(self, name: str, method: str, path: str, operation: Node) -> None:
        parameters: dict[str, Any] = {}
        way: dict[str, Any] = {"by": "http", "method": method.upper(), "path": path}
        query: dict[str, str] = {}
        for each in operation["parameters"]:
            self._take(name, each, way, query, parameters)
        places = set(re.findall(r"\{([^}]*)\}", way["path"]))
        if missing := places - parameters.keys():
            raise UnsaidError(f"{', '.join(sorted(missing))} of its path is not described")
        body = self._body(name, operation, parameters)
        told = str(operation.get("summary") or operation.get("description") or "")
        way |= {key: value for key, value in (("query", query), ("body", body)) if value}
        fields = fields_of(self._whole_schema(self._answer(operation)))
        entry = {
            "way": way,
            "parameters": parameters,
            "output": {"parser": "json", "fields": fields} if fields else {},
        }
        self._entries.add(name, told, entry, effect_of_named(name, looks=method == "get"))

    def _take(
        self,
        name: str,
        told: Node,
        way: dict[str, Any],
        query: dict[str, str],
        parameters: dict[str, Any],
    ) -> None:
        """One parameter: into the path or the query, or nowhere where it may be missing."""
        where, own = str(told.get("in")), str(told.get("name"))
        is_needed = bool(told.get("required")) or where == "path"
        if not is_needed:
            self._entries.leave_out(name, f"{own} of its {where}, which may be missing")
            return
        if where not in {"path", "query"}:
            raise UnsaidError(f"it needs {own} in a {where}, which the catalogue cannot say")
        place = name_of(own)
        schema = self._whole_schema(told.get("schema", told))
        found = parameter_of(own, schema, str(told.get("description", "")))
        if place in parameters:
            raise UnsaidError(f"two of its parameters are called {place}")
        parameters[place] = found
        if where == "path":
            way["path"] = way["path"].replace("{" + own + "}", "{" + place + "}")
        else:
            query[own] = "{" + place + "}"

    def _body(self, name: str, operation: Node, parameters: dict[str, Any]) -> dict[str, str]:
        told = self._at(operation.get("requestBody", {}))
        if not told:
            return {}
        schema = plain_of(self._whole_schema(_json_of(told)))
        properties = {str(k): v for k, v in schema.get("properties", {}).items()}
        needed = [str(each) for each in schema.get("required", ())]
        if told.get("required") and schema.get("type") != "object":
            raise UnsaidError("its body is no JSON object")
        for own in properties.keys() - set(needed):
            self._entries.leave_out(name, f"{own} of its body, which may be missing")
        places = {own: name_of(own) for own in needed}
        if not distinct((*places.values(), *parameters)):
            raise UnsaidError("two of its parameters have one name")
        for own, place in places.items():
            parameters[place] = parameter_of(own, properties.get(own, {}))
        return {own: "{" + place + "}" for own, place in places.items()}

    def _answer(self, operation: Node) -> Node:
        """The schema of what it answers where it goes well."""
        told = operation.get("responses")
        answers = {str(k): v for k, v in told.items()} if isinstance(told, Mapping) else {}
        good = sorted(code for code in answers if code.startswith("2"))
        for code in (*good, "default"):
            if found := _json_of(self._at(answers.get(code, {}))):
                return found
        return {}

    def _at(self, node: object) -> Node:
        """What stands there, or where it refers to within the file."""
        for _ in range(_DEEPEST):
            if not isinstance(node, Mapping):
                return {}
            if "$ref" not in node:
                return node
            node = self._referred(str(node["$ref"]))
        return {}

    def _referred(self, reference: str) -> object:
        found: object = self._whole
        if not reference.startswith("#/"):
            return {}  # another file, or an address: nothing is fetched
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def _whole_schema(self, schema: object, depth: int = 0) -> Node:
        """The schema with what it refers to in place, as deep as fields are looked for."""
        self._left -= 1
        if depth > _LEVELS or self._left < 0:
            return {"type": "object"}
        told = dict(self._at(schema))
        for word in ("anyOf", "oneOf", "allOf"):
            if isinstance(told.get(word), list):
                told[word] = [self._whole_schema(each, depth + 1) for each in told[word]]
        if isinstance(told.get("properties"), Mapping):
            told["properties"] = {
                str(k): self._whole_schema(v, depth + 1) for k, v in told["properties"].items()
            }
        return told


def _listed(node: Node, name: str) -> list[Any]:
    told = node.get(name)
    return told if isinstance(told, list) else []


def _json_of(node: Node) -> Node:
    """The schema of its JSON; of Swagger 2 its own."""
    content = node.get("content")
    if not isinstance(content, Mapping):
        return node["schema"] if isinstance(node.get("schema"), Mapping) else {}
    for kind, told in content.items():
        if _JSON.match(str(kind)) and isinstance(told, Mapping):
            return told["schema"] if isinstance(told.get("schema"), Mapping) else {}
    return {}
