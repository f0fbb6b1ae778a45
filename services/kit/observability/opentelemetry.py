"""Spans by OpenTelemetry, sent over OTLP/HTTP. Only `trace_export.py` speaks to this module."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from services.kit.observability.tracing import Kind, Place, Span, Value

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

_KINDS: dict[Kind, trace.SpanKind] = {
    "internal": trace.SpanKind.INTERNAL,
    "server": trace.SpanKind.SERVER,
    "client": trace.SpanKind.CLIENT,
    "producer": trace.SpanKind.PRODUCER,
    "consumer": trace.SpanKind.CONSUMER,
}

_wanted: ContextVar[int] = ContextVar("wanted_trace_id", default=0)


def open_tracer(service: str, endpoint: str | None) -> "OtelTracer | None":
    """Sends in the background what the settings or OpenTelemetry's own variables say; else None."""
    if endpoint is None and not any(map(os.environ.get, _ENDPOINTS)):
        return None
    url = f"{endpoint.rstrip('/')}/v1/traces" if endpoint else None
    return OtelTracer(service, BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))


class _Ids(RandomIdGenerator):
    """A trace that begins here has the id that the logs know it by."""

    def generate_trace_id(self) -> int:
        return _wanted.get() or super().generate_trace_id()

    def is_trace_id_random(self) -> bool:
        return False


class OtelTracer:
    """See `tracing.Tracer`."""

    def __init__(self, service: str, processor: SpanProcessor) -> None:
        """`processor` takes the spans that have ended."""
        resource = Resource.create({"service.name": service})
        self._provider = TracerProvider(resource=resource, id_generator=_Ids())
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("flowxpert")

    @contextmanager
    def entry(
        self, name: str, place: Place, kind: Kind, attributes: Mapping[str, Value]
    ) -> Iterator[Span]:
        """See `tracing.Tracer.entry`."""
        if f"{place.number:032x}" != place.trace_id:
            attributes = {**attributes, "request.id": place.trace_id}
        token = _wanted.set(place.number)
        try:
            begun = self._tracer.start_span(
                name, context=_around(place), kind=_KINDS[kind], attributes=dict(attributes)
            )
        finally:
            _wanted.reset(token)
        with _ending(begun), trace.use_span(begun, **_QUIET):
            yield _OtelSpan(begun)

    @contextmanager
    def span(
        self, name: str, kind: Kind, attributes: Mapping[str, Value], *, is_leaf: bool
    ) -> Iterator[Span]:
        """See `tracing.Tracer.span`."""
        if not trace.get_current_span().get_span_context().is_valid:
            yield _OtelSpan(trace.INVALID_SPAN)
            return
        begun = self._tracer.start_span(name, kind=_KINDS[kind], attributes=dict(attributes))
        with _ending(begun):
            if is_leaf:
                yield _OtelSpan(begun)
                return
            with trace.use_span(begun, **_QUIET):
                yield _OtelSpan(begun)

    @property
    def parent(self) -> str:
        """See `tracing.Tracer.parent`."""
        found = trace.get_current_span().get_span_context()
        if not found.is_valid or not found.trace_flags.sampled:
            return ""
        return f"00-{found.trace_id:032x}-{found.span_id:016x}-{found.trace_flags & 1:02x}"

    def close(self) -> None:
        """See `tracing.Tracer.close`."""
        self._provider.shutdown()


class _OtelSpan:
    """See `tracing.Span`."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def say(self, **attributes: Value) -> None:
        self._span.set_attributes(attributes)


_QUIET = {"record_exception": False, "set_status_on_exception": False}
"""An error's message may hold what came from outside; its class does not."""


@contextmanager
def _ending(span: trace.Span) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        span.set_attribute("error.type", type(error).__name__)
        span.set_status(trace.StatusCode.ERROR)
        raise
    finally:
        span.end()


def _around(place: Place) -> Context:
    """The context of the caller's span, which another process or thread has kept."""
    if not place.span_id:
        return Context()
    parent = trace.SpanContext(
        trace_id=place.number,
        span_id=int(place.span_id, 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(parent), Context())
