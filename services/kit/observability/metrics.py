"""Prometheus metrics, named `flowxpert_<service>_<what>_<unit>`; label values are finite sets."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from time import perf_counter

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.metrics import MetricWrapperBase

from services.kit.errors import UnavailableError
from services.kit.observability import tracing

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
LONG = (*SECONDS, 60, 120, 300, 900)

STORES = ("database", "vectors", "graph", "broker")

REQUESTS = Histogram(
    "flowxpert_http_request_seconds",
    "Time from a request's first byte to its answer, by route template.",
    ["service", "method", "route", "status"],
    buckets=SECONDS,
)

STAGES = Histogram(
    "flowxpert_stage_seconds",
    "Time a stage of the work took, by service and stage.",
    ["service", "stage"],
    buckets=LONG,
)

STORE_SECONDS = Histogram(
    "flowxpert_store_seconds",
    "Time that a store took, by operation; of the database a whole transaction.",
    ["store", "operation"],
    buckets=SECONDS,
)

STORE_FAILURES = Counter(
    "flowxpert_store_failures_total",
    "Operations that a store did not answer: it was away, too slow or locked.",
    ["store"],
)

TASKS = Counter(
    "flowxpert_queue_tasks_total",
    "Tasks run, by name and by outcome: done, failed, lost or postponed.",
    ["task", "outcome"],
)

OUTCOMES = ("done", "failed", "lost", "postponed")

OUTBOX = Gauge(
    "flowxpert_queue_outbox_tasks",
    "Tasks not finished, by state: waiting (running ones included) or parked, which are the dead "
    "letters. Every process that works on the queue tells the same: take the maximum.",
    ["state"],
)

OLDEST = Gauge(
    "flowxpert_queue_oldest_waiting_seconds",
    "How long the oldest task of this name has waited for a worker; 0 where none waits. Take the "
    "maximum.",
    ["task"],
)


def start_at_zero(metric: MetricWrapperBase, *values: Iterable[str]) -> None:
    """Create the series of all these label values before the first event is counted.

    Otherwise a first failure shows no increase, and an alert rule sees nothing.
    """
    for labels in product(*values):
        metric.labels(*labels)


start_at_zero(STORE_FAILURES, STORES)
start_at_zero(OUTBOX, ("waiting", "parked"))


@contextmanager
def stage_timer(service: str, stage: str, *, is_stream: bool = False) -> Iterator[None]:
    """Observe the duration of the block, whether or not it raises; its span is a parent.

    A block that yields is a stream: spans within it belong to its reader.
    """
    start = perf_counter()
    name = f"{service}.{stage}"
    with tracing.leaf_span(name, kind="internal") if is_stream else tracing.span(name):
        try:
            yield
        finally:
            STAGES.labels(service, stage).observe(perf_counter() - start)


@contextmanager
def store_timer(store: str, operation: str) -> Iterator[None]:
    """Observe a store's duration for the block, and whether it answered."""
    start = perf_counter()
    with tracing.leaf_span(f"{store} {operation}"):
        try:
            yield
        except UnavailableError:
            STORE_FAILURES.labels(store).inc()
            raise
        finally:
            STORE_SECONDS.labels(store, operation).observe(perf_counter() - start)
