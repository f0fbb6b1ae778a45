"""Spans by OpenTelemetry, sent over OTLP/HTTP. Imported by `start_tracing` alone."""

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

from services.kit.observability.tracing import AttributeValue, Span, SpanKind, TraceContext

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

_KINDS: dict[SpanKind, trace.SpanKind] = {
    "internal": trace.SpanKind.INTERNAL,
    "server": trace.SpanKind.SERVER,
    "client": trace.SpanKind.CLIENT,
    "producer": trace.SpanKind.PRODUCER,
    "consumer": trace.SpanKind.CONSUMER,
}

_wanted: ContextVar[int] = ContextVar("wanted_trace_id", default=0)


def open_tracer(service: str, endpoint: str | None) -> "OtelTracer | None":
    """Return a tracer that sends spans in the background; None without an endpoint."""
    if endpoint is None and not any(map(os.environ.get, _ENDPOINTS)):
        return None
    url = f"{endpoint.rstrip('/')}/v1/traces" if endpoint else None
    return OtelTracer(service, BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))


class _IdGenerator(RandomIdGenerator):
    """Generator that gives a new trace the id that the logs have."""

    def generate_trace_id(self) -> int:
        return _wanted.get() or super().generate_trace_id()

    def is_trace_id_random(self) -> bool:
        return False


class OtelTracer:
    """See `tracing.Tracer`."""

    def __init__(self, service: str, processor: SpanProcessor) -> None:
        """Take the processor of ended spans."""
        resource = Resource.create({"service.name": service})
        self._provider = TracerProvider(resource=resource, id_generator=_IdGenerator())
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("flowxpert")

    @contextmanager
    def entry(
        self,
        name: str,
        context: TraceContext,
        kind: SpanKind,
        attributes: Mapping[str, AttributeValue],
    ) -> Iterator[Span]:
        """See `tracing.Tracer.entry`."""
        if f"{context.number:032x}" != context.trace_id:
            attributes = {**attributes, "request.id": context.trace_id}
        token = _wanted.set(context.number)
        try:
            begun = self._tracer.start_span(
                name, context=_context_of(context), kind=_KINDS[kind], attributes=dict(attributes)
            )
        finally:
            _wanted.reset(token)
        with _ending(begun), trace.use_span(begun, **_QUIET):
            yield _OtelSpan(begun)

    @contextmanager
    def span(
        self, name: str, kind: SpanKind, attributes: Mapping[str, AttributeValue], *, is_leaf: bool
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
        context = trace.get_current_span().get_span_context()
        if not context.is_valid or not context.trace_flags.sampled:
            return ""
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags & 1:02x}"

    def close(self) -> None:
        """See `tracing.Tracer.close`."""
        self._provider.shutdown()


class _OtelSpan:
    """See `tracing.Span`."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def set_attributes(self, **attributes: AttributeValue) -> None:
        self._span.set_attributes(attributes)


_QUIET = {"record_exception": False, "set_status_on_exception": False}
"""Options that keep error messages out of spans: they may hold text from outside; classes do
not.
"""


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


def _context_of(caller: TraceContext) -> Context:
    """Return the context of the caller's span, which another process or thread has recorded."""
    if not caller.span_id:
        return Context()
    parent = trace.SpanContext(
        trace_id=caller.number,
        span_id=int(caller.span_id, 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(parent), Context())
