"""Retrieval, planner and scorer that answer what a test tells them to."""

from collections.abc import Iterator

from services.contracts.planner import Candidate, PlanRequest, PlanResponse
from services.contracts.readings import DoubtReport, DoubtTaken, DoubtWithdrawal
from services.contracts.retrieval import RetrievedContext, RetrieveRequest, SourceText
from services.contracts.scorer import (
    DIMENSIONS,
    Dimension,
    Score,
    ScoredCandidate,
    ScoreRequest,
    ScoreResponse,
)
from services.contracts.ticket import PurgedTickets
from services.kit.errors import NotFoundError, UnavailableError
from services.knowledge.model import Chunk, RetrievedChunk, Span
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


def fitting_context() -> RetrievedContext:
    """One chunk that fits."""
    chunk = Chunk(
        id="c1",
        span=Span(document_id=RUNBOOK, start_line=10, end_line=20),
        heading_path=("Fan failed", "Mitigation"),
        text="Show the fans",
    )
    retrieved = RetrievedChunk(chunk=chunk, score=0.9, reasons=("same alert name",))
    return RetrievedContext(chunks=(retrieved,), confidence=0.92)


class FakeRetrieval:
    """Answers `context`, of texts that hold a key of `chances` with that chance; and a source."""

    def __init__(self) -> None:
        self.context = fitting_context()
        self.chances: dict[str, float] = {}
        self.failures: list[Exception] = []
        self.requests: list[RetrieveRequest] = []

    def retrieve(self, request: RetrieveRequest) -> RetrievedContext:
        self.requests.append(request)
        if self.failures:
            raise self.failures.pop(0)
        chances = (chance for key, chance in self.chances.items() if key in request.description)
        chance = next(chances, self.context.confidence)
        return self.context.model_copy(update={"confidence": chance})

    def source(self, span: Span) -> SourceText:
        if span.document_id != RUNBOOK:
            raise NotFoundError("no such document")
        text = "\n".join(RUNBOOK_LINES[span.start_line - 1 : span.end_line])
        return SourceText(span=span, document_title="Fan failed", text=text)


class FakeDoubts:
    """Ingestion as the gateway tells it what was found wrong; fails while `is_down`."""

    def __init__(self) -> None:
        self.open: dict[tuple[str, str], DoubtReport] = {}
        self.is_down = False

    def doubt(self, report: DoubtReport) -> DoubtTaken:
        self._answer()
        self.open[report.ticket, report.step] = report
        return DoubtTaken(kept=True)

    def withdraw_doubts(self, request: DoubtWithdrawal) -> None:
        self._answer()
        for ticket, step in list(self.open):
            if ticket in request.tickets and request.step in {"", step}:
                del self.open[ticket, step]

    def forget_tickets(self, purged: PurgedTickets) -> None:
        self.withdraw_doubts(DoubtWithdrawal(tickets=purged.ids))

    def _answer(self) -> None:
        if self.is_down:
            raise UnavailableError("ingestion does not answer")


class FakePlanner:
    """Answers `workflows`."""

    def __init__(self) -> None:
        self.workflows = [fan_workflow(), fan_workflow("Reseat the tray")]
        self.requests: list[PlanRequest] = []

    def stream(self, request: PlanRequest) -> Iterator[Candidate]:
        self.requests.append(request)
        yield from self.plan(request).candidates

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
        self.good_enough = True
        self.requests: list[ScoreRequest] = []

    def score(self, request: ScoreRequest) -> ScoreResponse:
        self.requests.append(request)
        return ScoreResponse(
            ranked=tuple(
                ScoredCandidate(
                    candidate=candidate,
                    score=_score(4.2 - n / 2),
                    findings=self.findings,
                    good_enough=self.good_enough,
                )
                for n, candidate in enumerate(request.candidates)
            )
        )


def _score(value: float) -> Score:
    return Score(
        **{name: Dimension(value=value, reason=f"why {name} is {value}") for name in DIMENSIONS}
    )
