"""Traces, kept in memory."""

import threading

import httpx
import pytest
import structlog
from fastapi import APIRouter
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from services.deployment.process import start_tracing
from services.kit.access.needs import Need, needs
from services.kit.http.app import create_service_app
from services.kit.http.client import ServiceClient
from services.kit.http.server import ServerThread
from services.kit.observability import tracing
from services.kit.observability.opentelemetry import OtelTracer
from services.kit.observability.tracing import TraceContext
from services.kit.settings import PlatformSettings

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


@pytest.fixture
def kept():
    """Spans that have ended."""
    exporter = InMemorySpanExporter()
    with tracing.use_tracer(OtelTracer("test", SimpleSpanProcessor(exporter))):
        yield exporter.get_finished_spans


def app():
    router = APIRouter()

    @router.get("/v1/things/{thing_id}")
    @needs(Need.READ)
    def thing(thing_id: str) -> dict[str, str]:
        with tracing.span("test.look", depth=1):
            return structlog.contextvars.get_contextvars()

    return create_service_app(
        "test",
        title="Test",
        routers=[router],
        settings=PlatformSettings(_env_file=None),
    )


@pytest.mark.parametrize(
    ("headers", "place"),
    [
        ({"traceparent": f"00-{TRACE}-{SPAN}-01"}, TraceContext(TRACE, SPAN)),
        ({"traceparent": f"00-{TRACE}-{SPAN}-00"}, TraceContext(TRACE)),
        ({"traceparent": f"00-{TRACE}-{'0' * 16}-01"}, TraceContext(TRACE)),
        ({"x-request-id": "abc-1"}, TraceContext("abc-1")),
        (
            {"x-request-id": "abc-1", "traceparent": f"00-{TRACE}-{SPAN}-01"},
            TraceContext(TRACE, SPAN),
        ),
        (
            {"x-request-id": "a b", "traceparent": f"00-{TRACE}-{SPAN}-01"},
            TraceContext(TRACE, SPAN),
        ),
    ],
)
def test_the_callers_place_is_taken_from_its_headers(headers, place):
    assert TraceContext.from_headers(headers) == place


@pytest.mark.parametrize("headers", [{}, {"traceparent": f"00-{'0' * 32}-{SPAN}-01"}])
def test_without_a_callers_trace_there_is_a_new_one(headers):
    first, second = TraceContext.from_headers(headers), TraceContext.from_headers(headers)
    assert first.trace_id != second.trace_id
    assert len(first.trace_id) == 32


def test_a_name_that_a_caller_gave_to_its_request_goes_on_with_the_trace():
    number = f"{TraceContext('abc-1').number:032x}"
    headers = {"x-request-id": "abc-1", "traceparent": f"00-{number}-{SPAN}-01"}
    assert TraceContext.from_headers(headers) == TraceContext("abc-1", SPAN)


@pytest.mark.parametrize(
    "place", [TraceContext(TRACE, SPAN), TraceContext(TRACE), TraceContext("abc-1", SPAN)]
)
def test_a_place_is_read_as_it_was_written(place):
    assert TraceContext.parse(str(place)) == place


def test_a_written_place_fits_its_column():
    assert str(TraceContext("x" * 64, SPAN)) == "x" * 64


def test_spans_stand_below_one_another_and_logs_carry_their_trace(kept):
    with tracing.entry("outer", TraceContext(TRACE, SPAN)), tracing.span("inner", size=3):
        logged = structlog.contextvars.get_contextvars()["trace_id"]
    inner, outer = kept()
    assert inner.parent.span_id == outer.context.span_id
    assert f"{outer.parent.span_id:016x}" == SPAN
    assert f"{inner.context.trace_id:032x}" == logged == TRACE
    assert inner.attributes == {"size": 3}


def test_outside_of_a_trace_nothing_is_kept(kept):
    with tracing.span("alone"), tracing.leaf_span("alone too"):
        assert tracing.headers() == {}
    assert kept() == ()


def test_a_name_of_another_form_stands_on_the_span(kept):
    with tracing.entry("outer", TraceContext("abc-1")):
        assert tracing.headers()["x-request-id"] == "abc-1"
    assert kept()[0].attributes == {"request.id": "abc-1"}


def test_an_error_marks_its_span_and_tells_no_text(kept):
    with pytest.raises(ValueError, match="secret"), tracing.entry("outer", TraceContext(TRACE)):
        raise ValueError("secret words of a ticket")
    span = kept()[0]
    assert not span.status.is_ok
    assert span.attributes == {"error.type": "ValueError"}
    assert span.events == ()
    assert "secret" not in span.to_json()


def test_a_leaf_may_end_in_another_thread(kept):
    with tracing.entry("outer", TraceContext(TRACE)):
        leaf = tracing.leaf_span("stream")
        leaf.__enter__()
        ending = threading.Thread(target=leaf.__exit__, args=(None, None, None))
        ending.start()
        ending.join()
        with tracing.span("next"):
            pass
    stream, following, outer = kept()
    assert stream.parent.span_id == following.parent.span_id == outer.context.span_id


def test_one_trace_goes_over_http(kept):
    server = ServerThread(app(), host="127.0.0.1", port=0)
    server.start()
    with ServiceClient(server.url) as client, tracing.entry("walk", TraceContext("abc-1")):
        bound = client.get("/v1/things/42")
    server.stop()
    look, request, call, walk = kept()
    assert [each.name for each in (look, request, call, walk)] == [
        "test.look",
        "GET /v1/things/{thing_id}",
        "call 127.0.0.1",
        "walk",
    ]
    chain = [(look, request), (request, call), (call, walk)]
    assert all(below.parent.span_id == above.context.span_id for below, above in chain)
    assert len({each.context.trace_id for each in kept()}) == 1
    assert bound["trace_id"] == "abc-1"
    assert "42" not in request.name
    assert dict(request.attributes) == {
        "service": "test",
        "request.id": "abc-1",
        "route": "/v1/things/{thing_id}",
        "status": 200,
    }


def test_probes_leave_no_spans(kept):
    server = ServerThread(app(), host="127.0.0.1", port=0)
    server.start()
    for path in ("/healthz", "/readyz", "/metrics"):
        assert httpx.get(f"{server.url}{path}").headers["x-request-id"]
    server.stop()
    assert kept() == ()


def test_nothing_is_sent_where_no_collector_is_named(monkeypatch):
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    with start_tracing("test"), tracing.entry("outer", TraceContext(TRACE)):
        assert "traceparent" not in tracing.headers()
