"""What a load takes: processes, cores, memory and storage, from what one ticket costs."""

from dataclasses import dataclass
from math import ceil

from pydantic import BaseModel, ConfigDict

MONTH_S = 30 * 24 * 3600
BUSY = 0.6
"""Share of a core that is used at the peak: what is left keeps the waiting short."""
VECTOR_BYTES = 384 * 4 * 1.5
"""A vector of the embedding model, and half as much for its search graph (Qdrant's own rule)."""
LEAST = 2
"""Processes of each kind, so that one may end."""
SERVICES = ("gateway", "gateway-worker", "retrieval", "planner", "scorer")


class Costs(BaseModel):
    """What was measured on one machine. CPU time is in milliseconds, on one thread."""

    model_config = ConfigDict(frozen=True)

    intake: float
    """Of the gateway: an alert that makes a ticket."""
    repeat: float
    """Of the gateway: an alert that is counted on a ticket that is there."""
    view: float
    """Of the gateway: a list of tickets and one ticket's page."""
    walk: float
    """Of a gateway worker, by ticket: queue, database, and speaking to the services."""
    retrieval: float
    planner: float
    scorer: float
    document: float
    """Of an ingestion worker, by document."""
    ticket_bytes: float
    """In the database, with workflow and events."""
    document_bytes: float
    """In the database."""
    vectors: float
    """By document: its chunks and nodes."""
    process_mb: float
    """The most that one process took which held all services and the embedding model."""


@dataclass(frozen=True)
class Demand:
    """What comes in."""

    tickets: float
    """In a month of thirty days."""
    peak: float = 10.0
    """How much more comes in the busiest minutes than on average."""
    alerts: float = 10.0
    """Alerts for each ticket; all but the first are counted on it."""
    views: float = 10.0
    """How often people look at a ticket."""
    documents: float = 5000.0
    months: float = 12.0
    """How long tickets are kept."""

    @property
    def tickets_per_s(self) -> float:
        """At the peak."""
        return self.tickets / MONTH_S * self.peak


@dataclass(frozen=True)
class Capacity:
    """What that takes."""

    demand: Demand
    cores: dict[str, float]
    """In use at the peak, by process."""
    processes: dict[str, int]
    memory_gb: float
    database_gb: float
    vectors_gb: float


def capacity(costs: Costs, demand: Demand) -> Capacity:
    """The processes that keep up with the demand at its peak.

    cores = peak tickets a second x CPU seconds of a ticket; processes = cores / BUSY, rounded up,
    LEAST at least. A process uses one core, since Python computes on one at a time.
    """
    rate = demand.tickets_per_s
    at_gateway = costs.intake + (demand.alerts - 1) * costs.repeat + demand.views * costs.view
    by_ticket = {
        "gateway": at_gateway,
        "gateway-worker": costs.walk,
        "retrieval": costs.retrieval,
        "planner": costs.planner,
        "scorer": costs.scorer,
    }
    cores = {name: rate * by_ticket[name] / 1000 for name in SERVICES}
    processes = {name: max(LEAST, ceil(cores[name] / BUSY)) for name in SERVICES}
    # One process takes uploads in, one reads documents.
    count = sum(processes.values()) + 2
    tickets = demand.tickets * demand.months
    return Capacity(
        demand=demand,
        cores=cores,
        processes=processes,
        memory_gb=count * costs.process_mb / 1000,
        database_gb=(tickets * costs.ticket_bytes + demand.documents * costs.document_bytes) / 1e9,
        vectors_gb=demand.documents * costs.vectors * VECTOR_BYTES / 1e9,
    )
