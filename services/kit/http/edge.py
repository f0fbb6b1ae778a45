"""Plain ASGI middleware around every request: trace, caller, body limit, metrics, headers.

A refusal is JSON for programs, and a page for a browser that opened one.
"""

import asyncio
import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.kit.access.caller import CallerKind, acting_as
from services.kit.access.gate import Gate, client_address
from services.kit.errors import (
    FlowXpertError,
    InvalidInputError,
    PayloadTooLargeError,
    TooManyRequestsError,
)
from services.kit.observability import tracing
from services.kit.observability.metrics import REQUESTS


class BodyBudget:
    """A limit on the bodies of all requests together. Not thread-safe: for the event loop."""

    def __init__(self, most_bytes: int) -> None:
        """Take the limit; a single larger body is let in while there is no other."""
        self._most = most_bytes
        self._in_use = 0

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Count a body of this size while its request is answered.

        Raises:
            TooManyRequestsError: There is no room for it at present.
        """
        if self._in_use and size and self._in_use + size > self._most:
            raise TooManyRequestsError("too many large requests at a time: wait")
        self._in_use += size
        try:
            yield
        finally:
            self._in_use -= size


class UnprovenBodies:
    """A limit on the bodies of callers who are not known yet, counted as they come.

    A signature over a body is judged once it is read. One address has at most a quarter of the
    limit, so that it does not shut others out. Not thread-safe: for the event loop.
    """

    def __init__(self, most_bytes: int) -> None:
        """Take the limit; a single larger body is let in while there is no other."""
        self._most = most_bytes
        self._in_use = 0
        self._by_address = Counter[str]()

    @contextmanager
    def hold(self, address: str) -> Iterator[Callable[[int], None]]:
        """Yield a function that counts bytes of a body, which are held until the request's end.

        It raises `TooManyRequestsError` if there is no room for them at present.
        """
        own = 0

        def count(size: int) -> None:
            nonlocal own
            here = self._by_address[address]
            is_full = self._in_use > own and self._in_use + size > self._most
            if is_full or (here > own and here + size > self._most // 4):
                raise TooManyRequestsError("too many large requests at a time: wait")
            own += size
            self._in_use += size
            self._by_address[address] += size

        try:
            yield count
        finally:
            self._in_use -= own
            self._by_address[address] -= own
            if not self._by_address[address]:
                del self._by_address[address]


def body_size(headers: Headers, limit: int) -> int:
    """Return the most bytes of the body: its stated length, else the limit."""
    length = headers.get("content-length", "")
    if length.isdecimal():
        return min(int(length[:20]), limit)
    return limit if "transfer-encoding" in headers else 0


BODY_IDLE_S = 20.0
"""Longest pause of a request whose body is not complete."""
UNPROVEN_BODY_S = 20.0
"""Longest time until the body of a caller who is not known yet is complete."""

SECURITY_HEADERS = {
    # Scripts, styles, pictures and requests: our own files and addresses, nothing within a page.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), "
    "payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
}

_FOREIGN_FILE_HEADERS = {
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "content-disposition": "inline",
    # Kept by nobody between, and by a browser only until it asks again: its reader may have
    # signed out, and the file may be forgotten.
    "cache-control": "private, no-cache",
}

ErrorPage = Callable[[Scope, int, Mapping[str, str]], Response]
"""Renderer of a page for a request, a status and an error's body. An app with pages has it as
`state.error_page`, and in `state.no_pages` the path prefixes that answer programs only.
"""

_CHALLENGE = "www-authenticate"

_UNTRACED = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that are called every few seconds, and belong to no request of a caller."""

_log = structlog.get_logger()


def foreign_file(request: Request, content: bytes, media_type: str) -> Response:
    """Return a file made by others, which a browser shows and never runs, or 304 if it has it.

    `media_type` is detected by its bytes.
    """
    etag = f'"{hashlib.sha256(content).hexdigest()}"'
    headers = {**_FOREIGN_FILE_HEADERS, "etag": etag}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


def refusal(
    scope: Scope, status: int, body: Mapping[str, str], headers: Mapping[str, str] | None = None
) -> Response:
    """Build the answer to a request that is refused."""
    page: ErrorPage | None = getattr(scope["app"].state, "error_page", None)
    answer_headers = dict(headers or {})
    if page is None:
        return JSONResponse(dict(body), status, answer_headers)
    request_headers = Headers(scope=scope)
    accepts = "text/html" in request_headers.get("accept", "")
    opens_page = accepts and not str(scope["path"]).startswith(scope["app"].state.no_pages)
    is_browser = opens_page or "sec-fetch-mode" in request_headers or "cookie" in request_headers
    if _CHALLENGE in answer_headers and is_browser:
        # There is a page to sign in; at `Basic` the browser would ask for a password before it.
        answer_headers[_CHALLENGE] = 'Bearer realm="FlowXpert"'
    if not opens_page:
        return JSONResponse(dict(body), status, answer_headers)
    answer = page(scope, status, body)
    answer.headers.update(answer_headers)
    return answer


class Edge:
    """The outermost layer: every answer is well-formed and counted."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        service: str,
        gate: Gate,
        max_body_bytes: int,
        body_limits: Mapping[str, int],
        access_log: bool,
        max_bodies_bytes: int,
    ) -> None:
        """Take the app and its limits; `body_limits` holds other limits by path prefix."""
        self._app = app
        self._service = service
        self._gate = gate
        self._max_body_bytes = max_body_bytes
        self._body_limits = body_limits
        self._access_log = access_log
        self._in_flight = BodyBudget(max_bodies_bytes)
        self._unproven = UnprovenBodies(max_bodies_bytes // 2)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; other kinds of connection pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = perf_counter()
        context = tracing.TraceContext.from_headers(Headers(scope=scope))
        reply = _Reply(send, context.trace_id)
        method = scope["method"]
        entry = (
            tracing.bind_trace_id(context)
            if scope["path"] in _UNTRACED
            else tracing.entry(method, context, kind="server", service=self._service)
        )
        with entry as span:
            await self._answer(scope, receive, reply)
            seconds = perf_counter() - start
            # The template of the path; what stands in its place is not told.
            route = str(getattr(scope.get("route"), "path", "-"))
            REQUESTS.labels(self._service, method, route, str(reply.status)).observe(seconds)
            if self._access_log:
                _log.info("http.request", method=method, route=route, status=reply.status)
            span.rename(f"{method} {route}")
            span.set_attributes(route=route, status=reply.status)

    async def _answer(self, scope: Scope, receive: Receive, reply: "_Reply") -> None:
        try:
            headers = Headers(scope=scope)
            caller = await self._gate.admit(scope)
            limit = self._checked_limit(scope, headers)
            # Paths with a limit of their own take files, and do not hold them.
            is_buffered = limit == self._max_body_bytes
            size = body_size(headers, limit) if is_buffered else 0
            if caller.kind is CallerKind.NOBODY:
                with self._unproven.hold(client_address(scope)) as count, acting_as(caller):
                    until = time.monotonic() + UNPROVEN_BODY_S
                    await self._app(scope, _limited(receive, limit, count, until), reply)
                return
            with self._in_flight.hold(size), acting_as(caller):
                await self._app(scope, _limited(receive, limit), reply)
        except FlowXpertError as error:
            await reply.fail(scope, receive, error.status_code, error.body(), error.headers())
        except RecursionError:
            body = InvalidInputError("the body is nested too deeply").body()
            await reply.fail(scope, receive, 400, body)
        except ClientDisconnect:
            _log.info("http.client_gone", service=self._service, path=scope["path"][:200])
        except Exception:  # noqa: BLE001 - the HTTP edge
            _log.exception("http.request_failed", service=self._service, path=scope["path"][:200])
            detail = f"a defect; the log tells of it under the trace id {reply.trace_id}"
            body = {"error": "InternalError", "detail": detail}
            await reply.fail(scope, receive, 500, body)

    def _checked_limit(self, scope: Scope, headers: Headers) -> int:
        """Return the most bytes of the body; raise if the URL or the stated length is bad."""
        if "\0" in scope["path"] or b"%00" in scope.get("query_string", b""):
            raise InvalidInputError("a URL must not hold a NUL character")
        own = (n for path, n in self._body_limits.items() if scope["path"].startswith(path))
        limit = next(own, self._max_body_bytes)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > limit:
            raise PayloadTooLargeError(f"a body may have {limit} bytes, this one has {length[:20]}")
        return limit


class _Reply:
    """A `send` that adds our headers and remembers whether and how the answer began."""

    def __init__(self, send: Send, trace_id: str) -> None:
        self._send = send
        self.trace_id = trace_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[tracing.TRACE_HEADER] = self.trace_id
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)

    async def fail(
        self,
        scope: Scope,
        receive: Receive,
        status: int,
        body: Mapping[str, str],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if not self.status:  # an answer that has begun cannot be taken back
            await refusal(scope, status, body, headers)(scope, receive, self)


def _limited(
    receive: Receive,
    limit: int,
    count: Callable[[int], None] = lambda size: None,  # noqa: ARG005
    until: float = math.inf,
) -> Receive:
    """Count the bytes of a body as it comes, and limit its pauses and the time to its end."""
    seen, has_more = 0, True

    async def counted() -> Message:
        nonlocal seen, has_more
        if not has_more:  # what is waited for now is the end of the connection
            return await receive()
        # FastAPI lets this class of exceptions alone through while it reads a body.
        try:
            async with asyncio.timeout(min(BODY_IDLE_S, until - time.monotonic())):
                message = await receive()
        except TimeoutError as error:
            raise HTTPException(408, "the body did not come in time") from error
        size = len(message.get("body", b""))
        seen += size
        has_more = message.get("more_body", False)
        if seen > limit:
            raise HTTPException(413, f"a body may have {limit} bytes, this one has more")
        try:
            count(size)
        except TooManyRequestsError as error:
            raise HTTPException(429, str(error), error.headers()) from error
        return message

    return counted
