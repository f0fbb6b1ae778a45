"""Services that note the CPU time that passes while one of them works."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from services.contracts.planner import Candidate, Planner, PlanRequest, PlanResponse
from services.contracts.retrieval import (
    NodeQuery,
    NodeSummary,
    NodeSurroundings,
    PageReading,
    PeersQuery,
    Retrieval,
    RetrievedContext,
    RetrieveRequest,
    SourceText,
)
from services.contracts.scorer import Scorer, ScoreRequest, ScoreResponse
from services.knowledge.model import Span


class CpuMeter:
    """Milliseconds of CPU time by name, of the whole process: let one thing happen at a time."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()

    @contextmanager
    def on(self, name: str) -> Iterator[None]:
        """Note what the block spends, with all threads."""
        begun = time.process_time_ns()
        try:
            yield
        finally:
            self.spent[name] += (time.process_time_ns() - begun) // 1000

    def ms(self, name: str) -> float:
        """What was spent under the name."""
        return self.spent[name] / 1000


class MeteredRetrieval:
    """See `contracts.retrieval.Retrieval`."""

    def __init__(self, service: Retrieval, meter: CpuMeter) -> None:
        self._service, self._meter = service, meter

    def retrieve(self, request: RetrieveRequest) -> RetrievedContext:
        """See `Retrieval.retrieve`."""
        with self._meter.on("retrieval"):
            return self._service.retrieve(request)

    def source(self, span: Span) -> SourceText:
        """See `Retrieval.source`."""
        with self._meter.on("retrieval"):
            return self._service.source(span)

    def peers(self, query: PeersQuery) -> list[PageReading]:
        """See `Retrieval.peers`."""
        with self._meter.on("retrieval"):
            return self._service.peers(query)

    def nodes(self, query: NodeQuery) -> list[NodeSummary]:
        """See `Retrieval.nodes`."""
        with self._meter.on("retrieval"):
            return self._service.nodes(query)

    def surroundings(self, node_id: str, *, hops: int = 1) -> NodeSurroundings:
        """See `Retrieval.surroundings`."""
        with self._meter.on("retrieval"):
            return self._service.surroundings(node_id, hops=hops)


class MeteredPlanner:
    """See `contracts.planner.Planner`."""

    def __init__(self, service: Planner, meter: CpuMeter) -> None:
        self._service, self._meter = service, meter

    def plan(self, request: PlanRequest) -> PlanResponse:
        """See `Planner.plan`."""
        with self._meter.on("planner"):
            return self._service.plan(request)

    def stream(self, request: PlanRequest) -> Iterator[Candidate]:
        """See `Planner.stream`; what the caller does between two candidates is its own."""
        candidates = self._service.stream(request)
        while True:
            with self._meter.on("planner"):
                candidate = next(candidates, None)
            if candidate is None:
                return
            yield candidate


class MeteredScorer:
    """See `contracts.scorer.Scorer`."""

    def __init__(self, service: Scorer, meter: CpuMeter) -> None:
        self._service, self._meter = service, meter

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """See `Scorer.score`."""
        with self._meter.on("scorer"):
            return self._service.score(request)
