"""The planner with a model: N programs in one call, each checked before it may compete."""

import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass

import structlog

from services.contracts.planner import PlanRequest
from services.grounding.evidence import Evidence
from services.grounding.grounder import RecentVectors
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
from services.planner.generation.drafting import (
    evidence_of,
    faults,
    find_prompt_leak,
    findings_for,
    to_workflow,
    verify_citations,
)
from services.planner.generation.numbered_excerpts import NumberedExcerpts
from services.planner.generation.question import LABEL, messages, ticket_text
from services.planner.generation.selection import select_excerpts
from services.planner.metrics import MODEL_FAILURES, SAMPLES, TICKET_COST, TICKET_TOKENS
from services.planner.readings import origin_among
from services.planner.settings import PlannerSettings
from services.runbook.by_model.question import schema
from services.runbook.by_model.revision import Attempt, Revision
from services.runbook.choose import procedure_for
from services.runbook.model import Reader, Reading
from services.workflow.model import Citation, Provenance, Workflow

_log = structlog.get_logger()

_AT_ONCE = 4
"""Batch size in texts; stopping waits for no more than these."""


@contextmanager
def prefetch_embeddings(vectors: RecentVectors, texts: Sequence[str]) -> Iterator[threading.Event]:
    """Embed the texts into `vectors` in the background, batch by batch, until the event is set."""
    enough = threading.Event()

    def embed() -> None:
        try:
            for start in range(0, len(texts), _AT_ONCE):
                if enough.is_set():
                    return
                vectors.of(texts[start : start + _AT_ONCE])
        except Exception:  # noqa: BLE001 - the thread's entry point; who needs a vector asks again
            _log.warning("planner.embedding_ahead_failed", exc_info=True)

    threading.Thread(
        target=copy_context().run, args=(embed,), name="embedding-ahead", daemon=True
    ).start()
    try:
        yield enough
    finally:
        enough.set()


_REASONS: Mapping[type[FlowXpertError], str] = {
    ModelUnavailableError: "unavailable",
    ModelRefusedError: "refused",
    BudgetExceededError: "budget",
}
_REMEMBERED = 20_000


@dataclass(frozen=True)
class _Task:
    """One ticket in the work of the model."""

    request: PlanRequest
    shown: NumberedExcerpts
    evidence: Evidence
    chat_request: ChatRequest
    model: ChatModel
    deadline: float

    @property
    def sentences(self) -> list[str]:
        """The sentences of the shown lines, with which the steps will be compared."""
        spans = tuple(
            Citation(document_id=e.document_id, start_line=e.start, end_line=e.end)
            for e in self.shown.excerpts
        )
        return [unit.text for unit in self.evidence.cited(spans)]

    def ask_again(self, turns: Sequence[Message]) -> str | None:
        """Return the answer after further turns, within the remaining time; None on failure."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            return None
        dialogue = (*self.chat_request.messages, *turns)
        follow_up = self.chat_request.model_copy(
            update={"messages": dialogue, "n": 1, "timeout_s": left}
        )
        try:
            return self.model.complete(follow_up).samples[0].text
        except tuple(_REASONS) as error:
            _record_failure(self.model.name, error)
            return None


class GenerativePlanner:
    """Planner that writes candidates with a chat model and leaves out unverified ones."""

    def __init__(
        self, model: GuardedChatModel, embedder: Embedder, settings: PlannerSettings
    ) -> None:
        """Set up the planner; `embedder` matches cited lines with paraphrased steps."""
        self._model = model
        self._settings = settings
        self._vectors = RecentVectors(embedder, _REMEMBERED)

    def write(self, request: PlanRequest, *, ends: float) -> Iterator[Workflow]:
        """Yield sound, cited workflows as the model finishes them; none if it fails.

        `deadline` is on the monotonic clock; what is not finished then is given up, and closing the
        iterator gives the rest up at once. A failure of the model ends the iteration: it is
        counted and logged, and never an error for the ticket.
        """
        settings = self._settings
        budget = Budget(
            settings.ticket_tokens,
            max_cost=settings.ticket_cost or math.inf,
            prices=self._model.prices,
        )
        task = self._task(request, self._model.with_budget(budget), ends)
        samples = task.model.stream(task.chat_request)
        try:
            with prefetch_embeddings(self._vectors, task.sentences) as enough:
                for sample in samples:
                    enough.set()
                    workflow = self._settle(task, sample)
                    if workflow:
                        yield workflow
        except tuple(_REASONS) as error:
            _record_failure(self._model.name, error)
        finally:
            samples.close()
            TICKET_TOKENS.observe(budget.spent.total)
            TICKET_COST.observe(budget.cost)

    def _task(self, request: PlanRequest, model: ChatModel, ends: float) -> _Task:
        settings = self._settings
        lines = select_excerpts(
            request, page_tokens=settings.page_tokens, context_tokens=settings.context_tokens
        )
        chat_request = ChatRequest(
            messages=messages(request, lines),
            n=settings.samples,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            json_schema=schema(),
            seed=settings.seed,
            prompt=LABEL,
            timeout_s=max(0.01, ends - time.monotonic()),
        )
        return _Task(request, lines, evidence_of(request, lines), chat_request, model, ends)

    def _settle(self, task: _Task, sample: Sample) -> Workflow | None:
        """Turn the sample into a workflow, with limited revisions; None if it stays bad."""
        labels, most_steps = task.request.ticket.labels, self._settings.max_steps
        revision = Revision(
            task.shown.text,
            judge=lambda procedures: findings_for(procedures, task.shown, labels, most_steps),
            ask=task.ask_again,
            corrections=self._settings.corrections,
        )
        attempt = revision.settle(sample.text)
        workflow, outcome = self._judge(task, attempt)
        SAMPLES.labels(outcome).inc()
        if workflow is None:
            _log.warning("planner.sample_dropped", model=self._model.name, outcome=outcome)
            return None
        documents = dict.fromkeys(c.document_id for s in workflow.steps for c in s.citations)
        nodes = (hit.node for hit in task.request.context.nodes)
        origin = Provenance(
            planner="llm",
            version=f"{LABEL}#{sample.index}",
            model=self._model.name,
            document_ids=tuple(documents),
            page_origin=origin_among(task.request.pages, documents),
            node_ids=tuple(n.id for n in nodes if documents.keys() & set(n.document_ids)),
        )
        return workflow.model_copy(update={"provenance": origin})

    def _judge(self, task: _Task, attempt: Attempt | None) -> tuple[Workflow | None, str]:
        """Return the workflow if it may compete, and the outcome of the sample."""
        if attempt is None:
            return None, "unreadable"
        reading = Reading(reader=Reader.MODEL, procedures=attempt.procedures)
        procedure = procedure_for(reading.procedures, ticket_text(task.request.ticket))
        if procedure is None:
            return None, "empty"
        nodes = task.request.context.nodes
        titles = [page.title for page in task.request.pages[:1]]
        titles += [hit.node.name for hit in nodes[:1]]
        title = next(filter(None, titles), task.request.ticket.title)  # no model wrote it
        draft = to_workflow(procedure, task.shown).model_copy(update={"title": title})
        orders = [
            message.content for message in task.chat_request.messages if message.role == "system"
        ]
        if sentence := find_prompt_leak(draft, orders, task.evidence):
            _log.warning("planner.model_told_its_orders", text=sentence)
            return None, "leaked"
        workflow = verify_citations(draft, task.evidence, self._vectors)
        labels = task.request.ticket.labels
        if any(faults(workflow, labels, self._settings.max_steps)):
            return None, "unsound"
        return workflow, "corrected" if attempt.revisions else "accepted"


def _record_failure(model: str, error: FlowXpertError) -> None:
    reason = _REASONS[type(error)]
    MODEL_FAILURES.labels(reason).inc()
    _log.warning("planner.model_failed", model=model, reason=reason, detail=str(error))
