"""The planner with a model: N programs in one call, each checked before it may compete."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import structlog

from services.contracts.planner import PlanRequest
from services.grounding.evidence import Evidence
from services.grounding.vectors import RecentVectors
from services.kit.errors import FlowXpertError
from services.knowledge.ports import Embedder
from services.llm.chat_model import (
    BudgetExceededError,
    ChatModel,
    ChatRequest,
    Message,
    ModelRefusedError,
    ModelUnavailableError,
    Sample,
)
from services.llm.guard import Budget, GuardedChatModel
from services.planner.generation.citations import verified
from services.planner.generation.drafting import drafted, faults, findings_for
from services.planner.generation.embedding_ahead import embedding_ahead
from services.planner.generation.evidence import evidence_of
from services.planner.generation.leak import leaked
from services.planner.generation.question import LABEL, messages, ticket_text
from services.planner.generation.selection import shown
from services.planner.generation.shown import Shown
from services.planner.metrics import MODEL_FAILURES, SAMPLES, TICKET_COST, TICKET_TOKENS
from services.planner.settings import PlannerSettings
from services.planner.strategies.origin import origin_among
from services.procedure.by_model.question import schema
from services.procedure.by_model.revision import Attempt, Revision
from services.procedure.choose import procedure_for
from services.procedure.model import Procedure, Reader, Reading
from services.workflow.model import Citation, Provenance, Workflow

_log = structlog.get_logger()

_REASONS: Mapping[type[FlowXpertError], str] = {
    ModelUnavailableError: "unavailable",
    ModelRefusedError: "refused",
    BudgetExceededError: "budget",
}
_REMEMBERED = 20_000


@dataclass(frozen=True)
class _Task:
    """One ticket before the model."""

    request: PlanRequest
    shown: Shown
    evidence: Evidence
    asked: ChatRequest
    model: ChatModel
    ends: float

    @property
    def sentences(self) -> list[str]:
        """What the shown lines say: what the steps will be compared with."""
        spans = tuple(
            Citation(document_id=e.document_id, start_line=e.start, end_line=e.end)
            for e in self.shown.excerpts
        )
        return [unit.text for unit in self.evidence.cited(spans)]

    def again(self, turns: Sequence[Message]) -> str | None:
        """The answer after further turns, in the time that is left; None when it does not come."""
        left = self.ends - time.monotonic()
        if left <= 0:
            return None
        dialogue = (*self.asked.messages, *turns)
        asked = self.asked.model_copy(update={"messages": dialogue, "n": 1, "timeout_s": left})
        try:
            return self.model.complete(asked).samples[0].text
        except tuple(_REASONS) as error:
            _failed(self.model.name, error)
            return None


class GenerativePlanner:
    """Writes candidates with a chat model; what it cannot vouch for, it leaves out."""

    def __init__(
        self, model: GuardedChatModel, embedder: Embedder, settings: PlannerSettings
    ) -> None:
        """`embedder` tells whether a cited line says a step in other words."""
        self._model = model
        self._settings = settings
        self._vectors = RecentVectors(embedder, _REMEMBERED)

    def write(self, request: PlanRequest, *, ends: float) -> Iterator[Workflow]:
        """Sound, cited workflows as the model finishes them; none where it fails.

        `ends` is on the monotonic clock; what is not finished then is given up, and closing the
        iterator gives the rest up at once. A failure of the model ends the iteration: it is
        counted and logged, and never an error for the ticket.
        """
        budget = self._budget()
        task = self._task(request, self._model.with_budget(budget), ends)
        samples = task.model.stream(task.asked)
        try:
            with embedding_ahead(self._vectors, task.sentences) as enough:
                for sample in samples:
                    enough.set()
                    workflow = self._settled(task, sample)
                    if workflow:
                        yield workflow
        except tuple(_REASONS) as error:
            _failed(self._model.name, error)
        finally:
            samples.close()
            TICKET_TOKENS.observe(budget.spent.total)
            TICKET_COST.observe(budget.cost)

    def _budget(self) -> Budget:
        settings = self._settings
        return Budget(
            settings.ticket_tokens,
            max_cost=settings.ticket_cost or math.inf,
            prices=self._model.prices,
        )

    def _task(self, request: PlanRequest, model: ChatModel, ends: float) -> _Task:
        settings = self._settings
        lines = shown(
            request, page_tokens=settings.page_tokens, context_tokens=settings.context_tokens
        )
        asked = ChatRequest(
            messages=messages(request, lines),
            n=settings.samples,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            json_schema=schema(),
            seed=settings.seed,
            prompt=LABEL,
            timeout_s=max(0.01, ends - time.monotonic()),
        )
        return _Task(request, lines, evidence_of(request, lines), asked, model, ends)

    def _settled(self, task: _Task, sample: Sample) -> Workflow | None:
        """The sample as a workflow, after at most so many revisions; None if it stays bad."""
        attempt = self._revision(task).settled(sample.text)
        workflow, outcome = self._judged(task, attempt)
        SAMPLES.labels(outcome).inc()
        if workflow is None:
            _log.warning("planner.sample_dropped", model=self._model.name, outcome=outcome)
            return None
        origin = _provenance(workflow, task, self._model.name, f"{LABEL}#{sample.index}")
        return workflow.model_copy(update={"provenance": origin})

    def _revision(self, task: _Task) -> Revision:
        labels, most_steps = task.request.ticket.labels, self._settings.max_steps
        return Revision(
            task.shown.text,
            judge=lambda found: findings_for(found, task.shown, labels, most_steps),
            ask=task.again,
            corrections=self._settings.corrections,
        )

    def _judged(self, task: _Task, attempt: Attempt | None) -> tuple[Workflow | None, str]:
        """The workflow where it may compete, and what became of the sample."""
        if attempt is None:
            return None, "unreadable"
        procedure = _of_ticket(attempt, task.request)
        if procedure is None:
            return None, "empty"
        draft = drafted(procedure, task.shown).model_copy(update={"title": _title(task.request)})
        orders = [message.content for message in task.asked.messages if message.role == "system"]
        if told := leaked(draft, orders, task.evidence):
            _log.warning("planner.model_told_its_orders", text=told)
            return None, "leaked"
        workflow = verified(draft, task.evidence, self._vectors)
        labels = task.request.ticket.labels
        if any(faults(workflow, labels, self._settings.max_steps)):
            return None, "unsound"
        return workflow, "corrected" if attempt.revisions else "accepted"


def _of_ticket(attempt: Attempt, request: PlanRequest) -> Procedure | None:
    """The one that was asked for; of several the one that speaks most of the ticket."""
    reading = Reading(reader=Reader.MODEL, procedures=attempt.procedures)
    return procedure_for(reading.procedures, ticket_text(request.ticket))


def _title(request: PlanRequest) -> str:
    """In words that no model wrote."""
    nodes = request.context.nodes
    titles = [page.title for page in request.pages[:1]] + [hit.node.name for hit in nodes[:1]]
    return next(filter(None, titles), request.ticket.title)


def _provenance(workflow: Workflow, task: _Task, model: str, version: str) -> Provenance:
    documents = dict.fromkeys(c.document_id for s in workflow.steps for c in s.citations)
    nodes = (hit.node for hit in task.request.context.nodes)
    return Provenance(
        planner="llm",
        version=version,
        model=model,
        document_ids=tuple(documents),
        page_origin=origin_among(task.request.pages, documents),
        node_ids=tuple(n.id for n in nodes if documents.keys() & set(n.document_ids)),
    )


def _failed(model: str, error: FlowXpertError) -> None:
    reason = _REASONS[type(error)]
    MODEL_FAILURES.labels(reason).inc()
    _log.warning("planner.model_failed", model=model, reason=reason, detail=str(error))
