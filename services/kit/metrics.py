"""Prometheus metrics, named `flowxpert_<service>_<what>_<unit>`; label values are finite sets."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from prometheus_client import Counter, Gauge, Histogram

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

REQUESTS = Histogram(
    "flowxpert_http_request_seconds",
    "Time from a request's first byte to its answer, by route template.",
    ["service", "method", "route", "status"],
    buckets=SECONDS,
)

STAGES = Histogram(
    "flowxpert_stage_seconds",
    "Time a stage of the walk took, by service and stage.",
    ["service", "stage"],
    buckets=SECONDS,
)

TASKS = Counter(
    "flowxpert_queue_tasks_total",
    "Tasks run, by name and by outcome: done, failed or lost.",
    ["task", "outcome"],
)

OUTBOX = Gauge(
    "flowxpert_queue_outbox_tasks",
    "Tasks not finished, by state: waiting (running ones included) or parked.",
    ["state"],
)


@contextmanager
def stage_timer(service: str, stage: str) -> Iterator[None]:
    """Observe how long the block takes, whether or not it raises."""
    start = perf_counter()
    try:
        yield
    finally:
        STAGES.labels(service, stage).observe(perf_counter() - start)
