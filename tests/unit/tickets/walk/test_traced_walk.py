"""One trace from a webhook to its workflow, across the queue, and what is counted on the way."""

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import REGISTRY

from services.kit.observability import tracing
from services.kit.observability.opentelemetry import OtelTracer
from services.tickets.ticket.queue import WALK_TASK

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
TICKET = {"id": "T-1", "title": "Fan 2 of spine-77 has failed"}


@pytest.fixture
def kept():
    exporter = InMemorySpanExporter()
    with tracing.use_tracer(OtelTracer("test", SimpleSpanProcessor(exporter))):
        yield exporter.get_finished_spans


def counted(name, **labels):
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_one_trace_goes_from_the_webhook_to_the_workflow(gateway, kept):
    gateway.post(TICKET, headers=PARENT)
    gateway.work()
    spans = {span.name: span for span in kept()}
    request, task = spans["POST /workflow"], spans[WALK_TASK]
    stages = [spans[f"gateway.{name}"] for name in ("retrieve", "plan", "score", "store")]
    assert {f"{span.context.trace_id:032x}" for span in (request, task, *stages)} == {TRACE}
    assert task.parent.span_id == request.context.span_id
    assert {span.parent.span_id for span in stages} == {task.context.span_id}
    assert spans["database transaction"].context.trace_id == request.context.trace_id


def test_no_text_of_a_ticket_is_in_its_spans(gateway, kept):
    gateway.post(TICKET)
    gateway.work()
    assert kept()
    assert not any("spine-77" in span.to_json() for span in kept())


def test_the_trace_goes_across_the_queue_where_nothing_is_kept(gateway):
    gateway.post(TICKET, headers={"x-request-id": "abc-1"})
    assert gateway.outbox.due(limit=1)[0].trace_id == "abc-1"


def test_a_planned_ticket_is_counted(gateway):
    series = {
        "answers": ("flowxpert_gateway_answers_total", {"answer": "sure"}),
        "chosen": (
            "flowxpert_gateway_candidates_total",
            {"planner": "extractive", "chosen": "yes"},
        ),
        "scores": ("flowxpert_gateway_score_points_count", {"dimension": "overall"}),
        "stored": ("flowxpert_stage_seconds_count", {"service": "gateway", "stage": "store"}),
    }
    before = {name: counted(metric, **labels) for name, (metric, labels) in series.items()}
    gateway.post(TICKET)
    gateway.work()
    after = {name: counted(metric, **labels) for name, (metric, labels) in series.items()}
    assert {name: after[name] - before[name] for name in series} == dict.fromkeys(series, 1)


def test_a_scrape_tells_how_many_tickets_stand_where(gateway):
    for number in range(3):
        gateway.post({"id": f"T-{number}", "title": f"Fan {number} has failed"})
    gateway.work()
    gateway.post({"id": "T-9", "title": "PsuFailed"})
    scraped = gateway.client.get("/metrics").text
    assert 'tickets_in_state{source="generic",state="planned"} 3.0' in scraped
    assert 'tickets_in_state{source="generic",state="received"} 1.0' in scraped
    assert 'tickets_in_state{source="pagerduty",state="planned"} 0.0' in scraped
