"""Import of OpenAPI descriptions: operations become requests, their answers become fields."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from services.execution.tools.importing.entries import (
    EntryCollector,
    ImportResult,
    are_distinct,
    infer_effect,
    to_snake_case,
)
from services.execution.tools.importing.schema import (
    InexpressibleError,
    resolve_optional,
    to_fields,
    to_parameter,
)
from services.kit.errors import InvalidInputError
from services.kit.files import read_yaml

METHODS = ("get", "post", "put", "patch", "delete")
_OTHERS = ("head", "options", "trace")
_DEEPEST = 20
"""Most references that are followed from one place."""
_LEVELS = 4
"""Most levels of a schema."""
MOST_NODES = 5_000
"""Most parts of schemas that are read for one operation: they may contain themselves."""
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json")

JsonNode = Mapping[str, Any]


class NoDescriptionError(InvalidInputError):
    """Error of a file that is no OpenAPI description."""


def import_openapi_tools(path: Path, kind: str) -> ImportResult:
    """Convert operations to entries for targets of a kind.

    Addresses and credentials of the file are ignored.

    Raises:
        UnusableFileError: The file cannot be read as YAML.
        NoDescriptionError: It describes nothing.
    """
    document = read_yaml(path, dict[str, Any])
    if not isinstance(document.get("paths"), Mapping):
        raise NoDescriptionError(f"{path.name} has no paths of an OpenAPI description")
    return _OpenApiDocument(document, kind).convert()


class _OpenApiDocument:
    def __init__(self, whole: JsonNode, kind: str) -> None:
        self._whole = whole
        self._entries = EntryCollector(kind)
        self._nodes_left = MOST_NODES

    def convert(self) -> ImportResult:
        for path, item in self._whole["paths"].items():
            for method, operation in self._operations(str(path), self._resolve(item)):
                name = str(operation.get("operationId") or f"{method} {path}")
                self._nodes_left = MOST_NODES
                try:
                    self._add(name, method, str(path), operation)
                except InexpressibleError as error:
                    self._entries.leave_out(name, str(error))
        return self._entries.collect()

    def _operations(self, path: str, item: JsonNode) -> Iterator[tuple[str, JsonNode]]:
        for method in (*METHODS, *_OTHERS):
            if not isinstance(item.get(method), Mapping):
                continue
            if method in _OTHERS:
                self._entries.leave_out(f"{method} {path}", "no method of the catalogue")
                continue
            by_place: dict[tuple[str, str], JsonNode] = {}  # its own override those of its path
            for each in (*_list_of(item, "parameters"), *_list_of(item[method], "parameters")):
                parameter = self._resolve(each)
                by_place[str(parameter.get("in")), str(parameter.get("name"))] = parameter
            yield method, {**item[method], "parameters": list(by_place.values())}

    def _add(self, name: str, method: str, path: str, operation: JsonNode) -> None:
        parameters: dict[str, Any] = {}
        way: dict[str, Any] = {"by": "http", "method": method.upper(), "path": path}
        query: dict[str, str] = {}
        for each in operation["parameters"]:
            self._add_parameter(name, each, way, query, parameters)
        places = set(re.findall(r"\{([^}]*)\}", way["path"]))
        if missing := places - parameters.keys():
            raise InexpressibleError(f"{', '.join(sorted(missing))} of its path is not described")
        body = self._body(name, operation, parameters)
        description = str(operation.get("summary") or operation.get("description") or "")
        way |= {key: value for key, value in (("query", query), ("body", body)) if value}
        fields = to_fields(self._expand_schema(self._answer_schema(operation)))
        entry = {
            "way": way,
            "parameters": parameters,
            "output": {"parser": "json", "fields": fields} if fields else {},
        }
        self._entries.add(name, description, entry, infer_effect(name, looks=method == "get"))

    def _add_parameter(
        self,
        name: str,
        parameter: JsonNode,
        way: dict[str, Any],
        query: dict[str, str],
        parameters: dict[str, Any],
    ) -> None:
        """Add one parameter to the path or query; leave it out if it is optional."""
        where, own = str(parameter.get("in")), str(parameter.get("name"))
        is_needed = bool(parameter.get("required")) or where == "path"
        if not is_needed:
            self._entries.leave_out(name, f"{own} of its {where}, which may be missing")
            return
        if where not in {"path", "query"}:
            raise InexpressibleError(f"it needs {own} in a {where}, which the catalogue cannot say")
        place = to_snake_case(own)
        schema = self._expand_schema(parameter.get("schema", parameter))
        spec = to_parameter(own, schema, str(parameter.get("description", "")))
        if place in parameters:
            raise InexpressibleError(f"two of its parameters are called {place}")
        parameters[place] = spec
        if where == "path":
            way["path"] = way["path"].replace("{" + own + "}", "{" + place + "}")
        else:
            query[own] = "{" + place + "}"

    def _body(self, name: str, operation: JsonNode, parameters: dict[str, Any]) -> dict[str, str]:
        body = self._resolve(operation.get("requestBody", {}))
        if not body:
            return {}
        schema = resolve_optional(self._expand_schema(_json_schema(body)))
        properties = {str(k): v for k, v in schema.get("properties", {}).items()}
        needed = [str(each) for each in schema.get("required", ())]
        if body.get("required") and schema.get("type") != "object":
            raise InexpressibleError("its body is no JSON object")
        for own in properties.keys() - set(needed):
            self._entries.leave_out(name, f"{own} of its body, which may be missing")
        places = {own: to_snake_case(own) for own in needed}
        if not are_distinct((*places.values(), *parameters)):
            raise InexpressibleError("two of its parameters have one name")
        for own, place in places.items():
            parameters[place] = to_parameter(own, properties.get(own, {}))
        return {own: "{" + place + "}" for own, place in places.items()}

    def _answer_schema(self, operation: JsonNode) -> JsonNode:
        """Return the schema of a successful answer."""
        responses = operation.get("responses")
        answers = (
            {str(k): v for k, v in responses.items()} if isinstance(responses, Mapping) else {}
        )
        good = sorted(code for code in answers if code.startswith("2"))
        for code in (*good, "default"):
            if schema := _json_schema(self._resolve(answers.get(code, {}))):
                return schema
        return {}

    def _resolve(self, node: object) -> JsonNode:
        """Return the node, or what it refers to within the file."""
        for _ in range(_DEEPEST):
            if not isinstance(node, Mapping):
                return {}
            if "$ref" not in node:
                return node
            node = self._follow_reference(str(node["$ref"]))
        return {}

    def _follow_reference(self, reference: str) -> object:
        node: object = self._whole
        if not reference.startswith("#/"):
            return {}  # another file, or an address: nothing is fetched
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            node = node.get(key) if isinstance(node, Mapping) else None
        return node

    def _expand_schema(self, schema: object, depth: int = 0) -> JsonNode:
        """Expand the references of a schema, as deep as fields are read."""
        self._nodes_left -= 1
        if depth > _LEVELS or self._nodes_left < 0:
            return {"type": "object"}
        expanded = dict(self._resolve(schema))
        for word in ("anyOf", "oneOf", "allOf"):
            if isinstance(expanded.get(word), list):
                expanded[word] = [self._expand_schema(each, depth + 1) for each in expanded[word]]
        if isinstance(expanded.get("properties"), Mapping):
            expanded["properties"] = {
                str(k): self._expand_schema(v, depth + 1) for k, v in expanded["properties"].items()
            }
        return expanded


def _list_of(node: JsonNode, name: str) -> list[Any]:
    content = node.get(name)
    return content if isinstance(content, list) else []


def _json_schema(node: JsonNode) -> JsonNode:
    """Return the schema of a JSON body; for Swagger 2 its own schema."""
    content = node.get("content")
    if not isinstance(content, Mapping):
        return node["schema"] if isinstance(node.get("schema"), Mapping) else {}
    for kind, media_type in content.items():
        if _JSON.match(str(kind)) and isinstance(media_type, Mapping):
            return media_type["schema"] if isinstance(media_type.get("schema"), Mapping) else {}
    return {}
