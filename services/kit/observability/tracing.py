"""Traces: what was done for one request, wherever it was done; off until `start_tracing`.

    with tracing.entry(f"{service} {method}", place, kind="server") as span:   # at a process's edge
        with tracing.span("gateway.walk.retrieve", model=name):                # anywhere below
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

Value = str | int | float | bool
Kind = Literal["internal", "server", "client", "producer", "consumer"]

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]([0-9a-f])")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEX = re.compile(r"[0-9a-f]{32}")
_NONE = "0" * 32

_LONGEST = 64
"""Characters of a written place: what the outbox's column holds."""


class Place(NamedTuple):
    """Where in a trace something happens: the trace, and the span around it where one is kept."""

    trace_id: str
    span_id: str = ""

    @classmethod
    def read(cls, written: str) -> "Place":
        """The place that was written so; a new trace where nothing was."""
        trace_id, _, span_id = written.partition("/")
        return cls(trace_id or uuid4().hex, span_id)

    @classmethod
    def of_headers(cls, headers: Mapping[str, str]) -> "Place":
        """The caller's place (W3C `traceparent`, else `x-request-id`), or a new trace.

        A caller that sends both, of one trace, keeps the name that it gave to its request. A span
        that the caller does not keep is not gone on with.
        """
        parent = _TRACEPARENT.fullmatch(headers.get(PARENT_HEADER, ""))
        given = headers.get(TRACE_HEADER, "")
        named = given if _REQUEST_ID.fullmatch(given) else ""
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
        """As the outbox keeps it; without its span where both have no room."""
        written = f"{self.trace_id}/{self.span_id}" if self.span_id else self.trace_id
        return written if len(written) <= _LONGEST else self.trace_id


class Span(Protocol):
    """What may be said of a span while it lasts."""

    def rename(self, name: str) -> None:
        """Give it a better name."""

    def say(self, **attributes: Value) -> None:
        """Give it attributes."""


class Tracer(Protocol):
    """The library behind; see `opentelemetry.py`."""

    def entry(
        self, name: str, place: Place, kind: Kind, attributes: Mapping[str, Value]
    ) -> AbstractContextManager[Span]:
        """A span that begins or goes on with a trace."""

    def span(
        self, name: str, kind: Kind, attributes: Mapping[str, Value], *, is_leaf: bool
    ) -> AbstractContextManager[Span]:
        """A span within the current one; nothing where there is none."""

    @property
    def parent(self) -> str:
        """The current span as a `traceparent`; empty where none is kept."""

    def close(self) -> None:
        """Send what is left, and end."""


class _Silent:
    """Stands for a span while nothing is traced."""

    def rename(self, name: str) -> None:
        """Nothing is kept."""

    def say(self, **attributes: Value) -> None:
        """Nothing is kept."""


_SILENT = _Silent()
_tracer: Tracer | None = None


@contextmanager
def tracing_by(tracer: Tracer) -> Iterator[None]:
    """Until it ends, this process's spans go to the tracer."""
    global _tracer  # noqa: PLW0603 - a process has one, as it has one log
    before, _tracer = _tracer, tracer
    try:
        yield
    finally:
        _tracer = before
        tracer.close()


@contextmanager
def entry(
    name: str, place: Place, *, kind: Kind = "internal", **attributes: Value
) -> Iterator[Span]:
    """What a process does for a trace: logs carry its id, and spans below belong to it."""
    with untraced(place) as silent:
        if _tracer is None:
            yield silent
            return
        with _tracer.entry(name, place, kind, attributes) as kept:
            yield kept


@contextmanager
def untraced(place: Place) -> Iterator[Span]:
    """Logs carry the trace's id, and no span is kept."""
    with structlog.contextvars.bound_contextvars(trace_id=place.trace_id):
        yield _SILENT


def span(
    name: str, *, kind: Kind = "internal", **attributes: Value
) -> AbstractContextManager[Span]:
    """A span within the current one; nothing outside of a trace. What it raises marks it failed."""
    if _tracer is None:
        return nullcontext(_SILENT)
    return _tracer.span(name, kind, attributes, is_leaf=False)


def leaf(name: str, *, kind: Kind = "client", **attributes: Value) -> AbstractContextManager[Span]:
    """As `span`, with nothing below it: it may begin in one thread and end in another."""
    if _tracer is None:
        return nullcontext(_SILENT)
    return _tracer.span(name, kind, attributes, is_leaf=True)


def here() -> Place:
    """Where the caller is; without a trace id outside of any."""
    trace_id = str(structlog.contextvars.get_contextvars().get("trace_id", ""))
    found = _TRACEPARENT.fullmatch(_tracer.parent) if _tracer else None
    return Place(trace_id, found[2] if found else "")


def headers() -> dict[str, str]:
    """What another service is told of the trace."""
    trace_id = here().trace_id
    told = {TRACE_HEADER: trace_id} if trace_id else {}
    parent = _tracer.parent if _tracer else ""
    return told | ({PARENT_HEADER: parent} if parent else {})
