"""A server that speaks OpenAI's chat API and answers each request by the JSON schema in it.

`python schema_openai.py PORT LOG`: the answer is a function of the schema and the words of the
prompt, so two states of the code that ask the same are answered the same. Each request is added to
LOG as one JSON line: its messages and its schema.
"""

import hashlib
import json
import random
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

PORT, LOG = int(sys.argv[1]), Path(sys.argv[2])
PASSING = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)?")
LOCK = Lock()
DEEP = 6
"""From this depth on nothing is added that need not be."""


def instance(schema: dict[str, Any], root: dict[str, Any], dice: random.Random, depth: int) -> Any:
    """Return a value that the schema admits; optional parts end with growing depth."""
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return instance(target, root, dice, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return dice.choice(schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            options = schema[union]
            if depth > DEEP:
                options = [each for each in options if not _can_nest(each)] or options
            return instance(dice.choice(options), root, dice, depth + 1)
    return _of_type(schema, root, dice, depth)


def _can_nest(schema: dict[str, Any]) -> bool:
    return "$ref" in schema or schema.get("type") in {"object", "array"}


def _of_type(  # noqa: PLR0911 - one arm a type
    schema: dict[str, Any], root: dict[str, Any], dice: random.Random, depth: int
) -> Any:
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            needed = schema.get("required", ()) if depth > DEEP else fields
            return {name: instance(fields[name], root, dice, depth + 1) for name in needed}
        case "array":
            least = schema.get("minItems", 0)
            count = max(least, 0 if depth > DEEP else dice.randint(1, 3))
            items = schema.get("items", {"type": "integer"})
            first = [
                instance(each, root, dice, depth + 1) for each in schema.get("prefixItems", ())
            ]
            return first or [instance(items, root, dice, depth + 1) for _ in range(count)]
        case "integer":
            low = schema.get("minimum", 1)
            return dice.randint(low, min(schema.get("maximum", low + 9), low + 9))
        case "number":
            return round(dice.random(), 2)
        case "boolean":
            return dice.random() < 0.5
        case "null":
            return None
        case _:
            return dice.choice(("Check the logs.", "Restart the service.", "yes", "no"))


class Chat(BaseHTTPRequestHandler):
    """Answers POST /v1/chat/completions."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        form = (body.get("response_format") or {}).get("json_schema", {}).get("schema") or {}
        question = PASSING.sub("*", json.dumps([body.get("messages"), form], sort_keys=True))
        with LOCK, LOG.open("a") as log:
            log.write(question + "\n")
        count = body.get("n") or 1
        texts = []
        for number in range(count):
            dice = random.Random(hashlib.sha256(f"{number}{question}".encode()).digest())
            texts.append(json.dumps(instance(form, form, dice, 0)) if form else "Check the logs.")
        if body.get("stream"):
            self._start("text/event-stream")
            for index, text in enumerate(texts):
                self._chunk([{"delta": {"content": text}, "index": index}])
                self._chunk([{"delta": {}, "index": index, "finish_reason": "stop"}])
            self._write(f"data: {json.dumps(_envelope('chunk', []))}\n\ndata: [DONE]\n\n")
        else:
            self._start("application/json")
            choices = [
                {
                    "message": {"role": "assistant", "content": text},
                    "index": i,
                    "finish_reason": "stop",
                }
                for i, text in enumerate(texts)
            ]
            self._write(json.dumps(_envelope("completion", choices)))

    def _chunk(self, choices: list[Any]) -> None:
        self._write(f"data: {json.dumps(_envelope('chunk', choices))}\n\n")

    def _start(self, media_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.end_headers()

    def _write(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


def _nameless(form: dict[str, Any]) -> dict[str, Any]:
    """The schema without titles, its definitions numbered: names of classes that no model needs."""
    text = json.dumps(form)
    names = list(dict.fromkeys(re.findall(r'"#/\$defs/([^"]+)"', text)))
    numbers = {name: f"D{number}" for number, name in enumerate(names)}

    def renamed(node: Any, *, is_properties: bool = False) -> Any:
        if isinstance(node, dict):
            return {
                name: {numbers.get(each, each): renamed(value) for each, value in child.items()}
                if name == "$defs"
                else renamed(child, is_properties=name == "properties" and not is_properties)
                for name, child in node.items()
                if name != "title" or is_properties
            }
        if isinstance(node, list):
            return [renamed(each) for each in node]
        is_reference = isinstance(node, str) and node.startswith("#/$defs/")
        return f"#/$defs/{numbers[node.rpartition('/')[2]]}" if is_reference else node

    return dict(renamed(form))


def _envelope(kind: str, choices: list[Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    return {
        "id": "1",
        "object": f"chat.{kind}",
        "created": 1,
        "model": "by-schema",
        "choices": choices,
        "usage": usage,
    }


ThreadingHTTPServer(("127.0.0.1", PORT), Chat).serve_forever()
