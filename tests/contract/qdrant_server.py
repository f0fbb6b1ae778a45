"""A Qdrant server's REST interface on the client's local mode, as far as the adapter speaks it.

It shows that the adapter works over HTTP: addresses, bodies, keys, timeouts, repeats. What a real
server answers is tested where FLOWXPERT_TEST_QDRANT_URL names one.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import TypeAdapter
from qdrant_client import models
from qdrant_client.local.qdrant_local import QdrantLocal

KEY = "a-key-for-qdrant"
Answer = Callable[..., Any]


class FakeQdrant:
    """The collections, what was asked, and how many requests to refuse first."""

    def __init__(self) -> None:
        self.local = QdrantLocal(":memory:")
        self.requests: list[tuple[str, str, Any]] = []
        self.refusals = 0
        self.lock = threading.RLock()
        self.routes: list[tuple[str, str, Answer]] = [
            ("GET", r"/aliases", self.local.get_aliases),
            ("POST", r"/collections/aliases", self.alias),
            ("GET", r"/collections/(\w+)/exists", self.exists),
            ("PUT", r"/collections/(\w+)/index", lambda _name, _body: _done()),
            ("PUT", r"/collections/(\w+)/points", self.upsert),
            ("POST", r"/collections/(\w+)/points/delete", self.delete),
            ("POST", r"/collections/(\w+)/points/query/batch", self.query),
            ("POST", r"/collections/(\w+)/points/count", self.count),
            ("PUT", r"/collections/(\w+)", self.create),
            ("PATCH", r"/collections/(\w+)", lambda _name, _body: True),
            ("DELETE", r"/collections/(\w+)", self.local.delete_collection),
            ("GET", r"/collections/(\w+)", self.local.get_collection),
        ]

    def answer(self, method: str, path: str, body: Any) -> Any:
        for route_method, pattern, route in self.routes:
            match = re.fullmatch(pattern, path)
            if route_method == method and match:
                with self.lock:
                    self.requests.append((method, path, body))
                    return route(*match.groups(), *([body] if body is not None else []))
        raise LookupError(f"{method} {path}")

    def alias(self, body: Any) -> bool:
        operations = models.ChangeAliasesOperation.model_validate(body).actions
        return self.local.update_collection_aliases(operations)

    def exists(self, name: str) -> Any:
        return {"exists": self.local.collection_exists(name)}

    def create(self, name: str, body: Any) -> bool:
        config = models.CreateCollection.model_validate(body)
        return self.local.create_collection(
            name, vectors_config=config.vectors, sparse_vectors_config=config.sparse_vectors
        )

    def upsert(self, name: str, body: Any) -> Any:
        self.local.upsert(name, models.PointsList.model_validate(body).points)
        return _done()

    def delete(self, name: str, body: Any) -> Any:
        self.local.delete(name, TypeAdapter(models.PointsSelector).validate_python(body))
        return _done()

    def query(self, name: str, body: Any) -> Any:
        requests = models.QueryRequestBatch.model_validate(body).searches
        for request in requests:
            for each in (request, *request.prefetch):
                each.params = None  # Local mode has no index to tune a search of.
        return self.local.query_batch_points(name, requests)

    def count(self, name: str, _body: Any) -> Any:
        return self.local.count(name)


@contextmanager
def qdrant_server() -> Iterator[tuple[str, FakeQdrant]]:
    """Its address on loopback, and the store behind it."""
    fake = FakeQdrant()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", fake
    finally:
        server.shutdown()
        server.server_close()


def _handler(fake: FakeQdrant) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            if self.headers.get("api-key") != KEY:
                return self.send(401, {"status": {"error": "an api-key is wanted"}})
            if fake.refusals:
                fake.refusals -= 1
                return self.send(503, {"status": {"error": "starting"}})
            try:
                result = fake.answer(self.command, self.path.partition("?")[0], body)
            except (LookupError, ValueError) as error:
                return self.send(404, {"status": {"error": str(error)}})
            answer = {"result": result, "status": "ok", "time": 0.0}
            return self.send(200, TypeAdapter(Any).dump_python(answer, mode="json"))

        do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = do  # noqa: N815

        def send(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_arguments: object) -> None:
            """Tests are quiet."""

    return Handler


def _done() -> Any:
    return {"operation_id": 1, "status": "completed"}
