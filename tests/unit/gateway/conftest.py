"""A gateway over fakes that answer what a test tells them to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient

from services.contracts.planner import Candidate, PlanRequest, PlanResponse
from services.contracts.retrieval import RetrieveRequest, SourceText
from services.contracts.scorer import (
    Dimension,
    Score,
    ScoredCandidate,
    ScoreRequest,
    ScoreResponse,
)
from services.gateway.app import create_app, create_walk
from services.gateway.settings import GatewaySettings
from services.gateway.tickets import park
from services.gateway.walk import Walk
from services.kit.database import Database
from services.kit.errors import NotFoundError
from services.kit.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.knowledge.model import Chunk, KnowledgeContext, RetrievedChunk, Span
from services.workflow.model import Citation, Provenance, Step, StepKind, Transition, Workflow

RUNBOOK = "runbooks/FanFailed.md"
RUNBOOK_LINES = [f"line {number} of the runbook" for number in range(1, 41)]


def fan_workflow(title: str = "Replace a failed fan") -> Workflow:
    """Look, decide, replace or end."""
    cited = (Citation(document_id=RUNBOOK, start_line=12, end_line=14),)
    return Workflow(
        title=title,
        steps=(
            Step(
                id="look",
                kind=StepKind.PROCESS,
                text="Show the fans",
                commands=("show environment fan",),
                expected="Fan2: Failed",
                citations=cited,
            ),
            Step(id="ask", kind=StepKind.DECISION, text="Is a fan failed?", citations=cited),
            Step(id="replace", kind=StepKind.PROCESS, text="Replace the tray"),
            Step(id="end", kind=StepKind.TERMINAL, text="Resolved", citations=cited),
        ),
        transitions=(
            Transition(source="look", target="ask"),
            Transition(source="ask", target="replace", condition="yes"),
            Transition(source="ask", target="end", condition="no"),
            Transition(source="replace", target="end"),
        ),
        provenance=Provenance(planner="extractive"),
    )


def fitting_context() -> KnowledgeContext:
    """One chunk that fits."""
    chunk = Chunk(
        id="c1",
        span=Span(document_id=RUNBOOK, start_line=10, end_line=20),
        heading_path=("Fan failed", "Mitigation"),
        text="Show the fans",
    )
    found = RetrievedChunk(chunk=chunk, score=0.9, reasons=("same alert name",))
    return KnowledgeContext(chunks=(found,), confidence=0.92, fits=True)


class FakeRetrieval:
    """Answers `context`, and the lines of one runbook."""

    def __init__(self) -> None:
        self.context = fitting_context()
        self.failures: list[Exception] = []
        self.calls = 0

    def retrieve(self, request: RetrieveRequest) -> KnowledgeContext:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return self.context

    def source(self, span: Span) -> SourceText:
        if span.document_id != RUNBOOK:
            raise NotFoundError("no such document")
        text = "\n".join(RUNBOOK_LINES[span.start_line - 1 : span.end_line])
        return SourceText(span=span, document_title="Fan failed", text=text)


class FakePlanner:
    """Answers `workflows`."""

    def __init__(self) -> None:
        self.workflows = [fan_workflow(), fan_workflow("Reseat the tray")]

    def plan(self, request: PlanRequest) -> PlanResponse:
        return PlanResponse(
            candidates=tuple(
                Candidate(id=f"c{n}", workflow=w) for n, w in enumerate(self.workflows)
            )
        )


class FakeScorer:
    """Gives the first 4.2, each further one half a point less."""

    def __init__(self) -> None:
        self.findings: tuple[str, ...] = ()

    def score(self, request: ScoreRequest) -> ScoreResponse:
        return ScoreResponse(
            ranked=tuple(
                ScoredCandidate(
                    candidate=candidate, score=_score(4.2 - n / 2), findings=self.findings
                )
                for n, candidate in enumerate(request.candidates)
            )
        )


def _score(value: float) -> Score:
    return Score(
        **{
            name: Dimension(value=value, reason=f"why {name} is {value}")
            for name in Score.model_fields
        }
    )


@dataclass
class Gateway:
    """The app's client, and the worker's side by hand."""

    client: TestClient
    database: Database
    outbox: Outbox
    walk: Walk
    retrieval: FakeRetrieval
    planner: FakePlanner
    scorer: FakeScorer

    def work(self) -> int:
        """Run every due task once, as a worker would; how many there were."""
        due = self.outbox.due(limit=1000)
        for key, *_ in due:
            self.outbox.run(key, self.walk.run, on_parked=park)
        return len(due)

    def post(self, body: Any, path: str = "/workflow", **arguments: Any) -> Any:
        """POST JSON and return the answer's JSON; it must have been accepted."""
        answer = self.client.post(path, json=body, **arguments)
        assert answer.status_code in {200, 202}, answer.text
        return answer.json()

    def ticket(self, ticket_id: str) -> Any:
        """The ticket as the API tells it."""
        return self.client.get(f"/v1/tickets/{ticket_id}").json()


@pytest.fixture
def gateway(make_gateway: Callable[..., Gateway]) -> Gateway:
    """A gateway with the settings' defaults, but quick to look."""
    return make_gateway()


@pytest.fixture
def make_gateway() -> Iterator[Callable[..., Gateway]]:
    """Makes gateways with other settings."""
    opened: list[Database] = []

    def make(**settings: Any) -> Gateway:
        database = Database.memory()
        opened.append(database)
        database.migrate("kit", "gateway")
        outbox = Outbox(database, max_attempts=3)
        retrieval, planner, scorer = FakeRetrieval(), FakePlanner(), FakeScorer()
        chosen = GatewaySettings(_env_file=None, **{"event_poll_s": 0.02, **settings})
        walk = create_walk(
            chosen,
            database=database,
            outbox=outbox,
            retrieval=retrieval,
            planner=planner,
            scorer=scorer,
        )
        app = create_app(
            chosen,
            PlatformSettings(_env_file=None),
            database=database,
            outbox=outbox,
            retrieval=retrieval,
        )
        client = TestClient(app, base_url="http://127.0.0.1")
        return Gateway(client, database, outbox, walk, retrieval, planner, scorer)

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def alert() -> dict[str, Any]:
    """One firing alert, as Alertmanager sends it."""
    return {
        "status": "firing",
        "labels": {"alertname": "FanFailed", "severity": "critical", "device": "spine-01"},
        "annotations": {"summary": "Fan 2 of spine-01 failed", "description": "It stands still."},
        "startsAt": "2025-03-12T08:14:51.123Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example.net/graph",
        "fingerprint": "5e6f7081a2b3c4d5",
    }


@pytest.fixture
def group(alert: dict[str, Any]) -> dict[str, Any]:
    """A group of that one alert."""
    return {
        "version": "4",
        "groupKey": "{}",
        "status": "firing",
        "receiver": "flowxpert",
        "alerts": [alert],
    }
