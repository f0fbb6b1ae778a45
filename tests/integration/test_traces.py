"""One trace across processes: the planner's spans reach a collector, below those of its caller."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from services.contracts.planner import PlannerClient, PlanRequest
from services.contracts.ticket import TicketDraft
from services.kit.http.client import ServiceClient
from services.kit.observability import tracing
from services.kit.observability.opentelemetry import OtelTracer
from services.knowledge.model import KnowledgeContext
from tests.ports import free_port
from tests.servers.collector import Collector

TRACE = "0af7651916cd43dd8448eb211c80319c"
TICKET = TicketDraft(source="generic", external_id="1", title="Fan 2 of spine-77 has failed")


def started(folder: Path, log: Path, collector: str) -> tuple["subprocess.Popen[bytes]", str]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "services.cli", "serve", "planner", "--port", str(port)],
        cwd=Path(__file__).parents[2],
        stderr=log.open("wb"),
        env=os.environ
        | {
            "FLOWXPERT_DATA_DIR": str(folder),
            "FLOWXPERT_OTLP_ENDPOINT": collector,
            "FLOWXPERT_LOG_FORMAT": "json",
            "FLOWXPERT_LOG_LEVEL": "info",
            "FLOWXPERT_ACCESS_LOG": "true",
        },
    )
    return process, f"http://127.0.0.1:{port}"


def wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 60
    while True:
        assert process.poll() is None
        assert time.monotonic() < until
        try:
            if httpx.get(f"{url}/readyz", timeout=1).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)


def test_a_trace_goes_on_in_another_process(tmp_path):
    kept, log = InMemorySpanExporter(), tmp_path / "log"
    with Collector() as collector:
        process, url = started(tmp_path / "data", log, collector.url)
        try:
            wait_for(url, process)
            with (
                tracing.use_tracer(OtelTracer("test", SimpleSpanProcessor(kept))),
                tracing.entry("walk", tracing.TraceContext(TRACE)),
                ServiceClient(url) as client,
            ):
                request = PlanRequest(ticket=TICKET, context=KnowledgeContext())
                assert PlannerClient(client).plan(request).candidates == ()
                calls = {span.context.span_id for span in kept.get_finished_spans()}
        finally:
            process.send_signal(signal.SIGTERM)  # what is not sent yet is sent before it ends
            process.wait(timeout=30)
    spans = {span.name: span for span in collector.spans["flowxpert-planner"]}
    request_span = spans["POST /v1/plans"]
    assert {span.trace_id.hex() for span in spans.values()} == {TRACE}
    assert int.from_bytes(request_span.parent_span_id) in calls
    assert spans["planner.extract"].parent_span_id == request_span.span_id
    assert not any(b"spine-77" in span.SerializeToString() for span in spans.values())
    logged = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    assert [each["trace_id"] for each in logged if each.get("route") == "/v1/plans"] == [TRACE]
