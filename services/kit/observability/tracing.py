"""Traces: what was done for one request, in all processes; off until `start_tracing`.

    with tracing.entry(f"{service} {method}", context, kind="server") as span:   # a process's edge
        with tracing.span("gateway.walk.retrieve", model=name):                  # anywhere below
            ...

Attributes are names, numbers and states of the platform itself: never a text from outside.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal, NamedTuple, Protocol
from uuid import uuid4

import structlog

TRACE_HEADER = "x-request-id"
PARENT_HEADER = "traceparent"

AttributeValue = str | int | float | bool
SpanKind = Literal["internal", "server", "client", "producer", "consumer"]

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]([0-9a-f])")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEX = re.compile(r"[0-9a-f]{32}")
_NONE = "0" * 32

_LONGEST = 64
"""Most characters of a serialised context: what the outbox's column holds."""


class TraceContext(NamedTuple):
    """Position in a trace: the trace, and the current span if one is recorded."""

    trace_id: str
    span_id: str = ""

    @classmethod
    def parse(cls, written: str) -> "TraceContext":
        """Parse a serialised context; an empty one begins a new trace."""
        trace_id, _, span_id = written.partition("/")
        return cls(trace_id or uuid4().hex, span_id)

    @classmethod
    def from_headers(cls, headers: Mapping[str, str]) -> "TraceContext":
        """Return the caller's context (W3C `traceparent`, else `x-request-id`), or a new trace.

        If a caller sends both, for one trace, its request id names the trace. A span that the
        caller does not record is not continued.
        """
        parent = _TRACEPARENT.fullmatch(headers.get(PARENT_HEADER, ""))
        request_id = headers.get(TRACE_HEADER, "")
        named = request_id if _REQUEST_ID.fullmatch(request_id) else ""
        if parent is None or parent[1] == _NONE:
            return cls(named or uuid4().hex)
        is_one = named and cls(named).number == int(parent[1], 16)
        is_kept = int(parent[3], 16) & 1 and int(parent[2], 16)
        return cls(named if is_one else parent[1], parent[2] if is_kept else "")

    @property
    def number(self) -> int:
        """The trace's id as spans carry it: the same, or the digest of a name of another form."""
        plain = self.trace_id.replace("-", "").lower()
        if _HEX.fullmatch(plain) and plain != _NONE:
            return int(plain, 16)
        return int.from_bytes(hashlib.sha256(self.trace_id.encode()).digest()[:16])

    def __str__(self) -> str:
        """Serialise the context for the outbox; without the span if there is no room for both."""
        written = f"{self.trace_id}/{self.span_id}" if self.span_id else self.trace_id
        return written if len(written) <= _LONGEST else self.trace_id


class Span(Protocol):
    """A running span."""

    def rename(self, name: str) -> None:
        """Rename the span."""

    def set_attributes(self, **attributes: AttributeValue) -> None:
        """Set attributes of the span."""


class Tracer(Protocol):
    """The tracing library; see `opentelemetry.py`."""

    def entry(
        self,
        name: str,
        context: TraceContext,
        kind: SpanKind,
        attributes: Mapping[str, AttributeValue],
    ) -> AbstractContextManager[Span]:
        """Open a span that begins or continues a trace."""

    def span(
        self, name: str, kind: SpanKind, attributes: Mapping[str, AttributeValue], *, is_leaf: bool
    ) -> AbstractContextManager[Span]:
        """Open a span within the current one; none if there is none."""

    @property
    def parent(self) -> str:
        """The current span as a `traceparent`; empty if none is recorded."""

    def close(self) -> None:
        """Send the remaining spans, and end."""


class _NoSpan:
    """Null span, while nothing is traced."""

    def rename(self, name: str) -> None:
        """Do nothing."""

    def set_attributes(self, **attributes: AttributeValue) -> None:
        """Do nothing."""


_NO_SPAN = _NoSpan()
_tracer: Tracer | None = None


@contextmanager
def use_tracer(tracer: Tracer) -> Iterator[None]:
    """Send this process's spans to the tracer while the context is open."""
    global _tracer  # noqa: PLW0603 - a process has one, as it has one log
    before, _tracer = _tracer, tracer
    try:
        yield
    finally:
        _tracer = before
        tracer.close()


@contextmanager
def entry(
    name: str, context: TraceContext, *, kind: SpanKind = "internal", **attributes: AttributeValue
) -> Iterator[Span]:
    """Open the root span of a process for a trace; logs carry its id."""
    with bind_trace_id(context) as silent:
        if _tracer is None:
            yield silent
            return
        with _tracer.entry(name, context, kind, attributes) as kept:
            yield kept


@contextmanager
def bind_trace_id(context: TraceContext) -> Iterator[Span]:
    """Add the trace's id to logs, without recording a span."""
    with structlog.contextvars.bound_contextvars(trace_id=context.trace_id):
        yield _NO_SPAN


def span(
    name: str, *, kind: SpanKind = "internal", **attributes: AttributeValue
) -> AbstractContextManager[Span]:
    """Open a span within the current one, if any; an exception marks it failed."""
    if _tracer is None:
        return nullcontext(_NO_SPAN)
    return _tracer.span(name, kind, attributes, is_leaf=False)


def leaf_span(
    name: str, *, kind: SpanKind = "client", **attributes: AttributeValue
) -> AbstractContextManager[Span]:
    """Open a span without children: it may begin in one thread and end in another."""
    if _tracer is None:
        return nullcontext(_NO_SPAN)
    return _tracer.span(name, kind, attributes, is_leaf=True)


def current_context() -> TraceContext:
    """Return the current context; without a trace id outside of any trace."""
    trace_id = str(structlog.contextvars.get_contextvars().get("trace_id", ""))
    parent = _TRACEPARENT.fullmatch(_tracer.parent) if _tracer else None
    return TraceContext(trace_id, parent[2] if parent else "")


def headers() -> dict[str, str]:
    """Return the headers that pass the trace on to another service."""
    trace_id = current_context().trace_id
    trace_headers = {TRACE_HEADER: trace_id} if trace_id else {}
    parent = _tracer.parent if _tracer else ""
    return trace_headers | ({PARENT_HEADER: parent} if parent else {})
