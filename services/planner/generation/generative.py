"""The planner with a model: N samples in one call, each checked before it may compete."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import structlog

from services.contracts.planner import PlanRequest
from services.contracts.ticket import TicketDraft
from services.grounding.evidence import Evidence
from services.grounding.vectors import RecentVectors
from services.kit.errors import FlowXpertError, InvalidInputError
from services.knowledge.ports import Embedder
from services.llm.chat_model import (
    BudgetExceededError,
    ChatModel,
    ChatRequest,
    Message,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
    Sample,
)
from services.llm.guard import Budget, GuardedChatModel
from services.planner.generation.citations import verified
from services.planner.generation.embedding_ahead import embedding_ahead
from services.planner.generation.forms import FORMS, Form, messages
from services.planner.generation.leak import leaked
from services.planner.generation.outline import OutlineError
from services.planner.generation.passages import Shown, as_text, shown
from services.planner.metrics import MODEL_FAILURES, SAMPLES, TICKET_COST, TICKET_TOKENS
from services.planner.settings import PlannerSettings
from services.workflow.lint import Finding, Severity, lint
from services.workflow.model import Citation, Provenance, Workflow

_log = structlog.get_logger()

_REASONS: Mapping[type[FlowXpertError], str] = {
    ModelUnavailableError: "unavailable",
    ModelRefusedError: "refused",
    BudgetExceededError: "budget",
}
_FINDINGS_TOLD = 4
"""Findings that one corrective turn names; the later ones mostly follow from the first."""
_TICKET_CHARACTERS = 4000
_REMEMBERED = 20_000


class _LeakError(InvalidInputError):
    """A workflow that tells the platform's own messages to the model; the message is its text."""


class _UnsoundError(InvalidInputError):
    """A readable workflow with lint errors; the message names them."""


_UNSOUND = (_UnsoundError, OutlineError)
"""It could be read, and makes no workflow."""


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
        """What the shown passages say: what the steps will be compared with."""
        passages = self.shown.by_id.values()
        spans = tuple(Citation(**passage.span.model_dump()) for passage in passages)
        return [unit.text for unit in self.evidence.cited(spans)]

    def again(self, *turns: Message) -> ChatRequest:
        """The same question after further turns, one sample, with the time that is left."""
        left = max(0.01, self.ends - time.monotonic())
        dialogue = (*self.asked.messages, *turns)
        return self.asked.model_copy(update={"messages": dialogue, "n": 1, "timeout_s": left})


class GenerativePlanner:
    """Writes candidates with a chat model; what it cannot vouch for, it leaves out."""

    def __init__(
        self, model: GuardedChatModel, embedder: Embedder, settings: PlannerSettings
    ) -> None:
        """`embedder` tells whether a cited line says a step in other words."""
        self._model = model
        self._settings = settings
        self._form: Form = FORMS[settings.form]()
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
            _failed(_REASONS[type(error)], self._model.name, error)
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
        passages = shown(request.context, settings.context_tokens)
        ticket = _ticket_text(request.ticket)
        asked = ChatRequest(
            messages=messages(
                self._form, ticket, as_text(passages.nodes), as_text(passages.chunks)
            ),
            n=settings.samples,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            json_schema=self._form.schema(list(passages.by_id), settings.max_steps),
            seed=settings.seed,
            prompt=self._form.prompt.label,
            timeout_s=max(0.01, ends - time.monotonic()),
        )
        evidence = Evidence.of(request.context)
        return _Task(request, passages, evidence, asked, model, ends)

    def _settled(self, task: _Task, sample: Sample) -> Workflow | None:
        """The sample as a workflow, after at most so many corrective turns; None if it stays bad.

        Raises:
            ModelUnavailableError: The model went away while it was asked to correct.
        """
        outcome = "accepted"
        for attempt in range(self._settings.corrections + 1):
            try:
                workflow = self._sound(task, sample)
            except _LeakError as error:
                outcome = "leaked"
                _log.warning("planner.model_told_its_orders", text=str(error))
                break
            except (ModelAnswerError, InvalidInputError) as error:
                outcome = "unsound" if isinstance(error, _UNSOUND) else "unreadable"
                if attempt == self._settings.corrections or time.monotonic() >= task.ends:
                    break
                try:
                    sample = self._corrected(task, sample, str(error))
                except ModelRefusedError as refusal:  # as a rule, the dialogue has become too long
                    _log.warning("planner.correction_refused", reason=str(refusal))
                    break
            else:
                SAMPLES.labels("corrected" if attempt else "accepted").inc()
                return workflow
        SAMPLES.labels(outcome).inc()
        _log.warning("planner.sample_dropped", model=self._model.name, outcome=outcome)
        return None

    def _corrected(self, task: _Task, sample: Sample, complaint: str) -> Sample:
        turns = (
            Message(role="assistant", content=sample.text),
            Message(role="user", content=f"That cannot be used: {complaint}\nWrite it again."),
        )
        answer = task.model.complete(task.again(*turns)).samples[0]
        return answer.model_copy(update={"index": sample.index})

    def _sound(self, task: _Task, sample: Sample) -> Workflow:
        spans = {name: passage.span for name, passage in task.shown.by_id.items()}
        read = self._form.read(sample.text, _title(task.request), spans)
        orders = [message.content for message in task.asked.messages if message.role == "system"]
        told = leaked(read, orders, task.evidence)
        if told:
            raise _LeakError(told)
        workflow = verified(read, task.evidence, self._vectors)
        bindings = task.request.ticket.labels
        errors = [f for f in lint(workflow, bindings=bindings) if _is_unsound(f)]
        if errors:
            raise _UnsoundError("; ".join(f.message for f in errors[:_FINDINGS_TOLD]))
        version = f"{self._form.prompt.label}#{sample.index}"
        return workflow.model_copy(
            update={"provenance": _provenance(workflow, task, self._model.name, version)}
        )


def _is_unsound(finding: Finding) -> bool:
    """A page may tell to do something dangerous at once; a model may not."""
    return finding.severity is Severity.ERROR or finding.check == "danger_without_check"


def _ticket_text(ticket: TicketDraft) -> str:
    lines = [ticket.title, ticket.alert_name, ticket.description]
    lines += [f"{name}: {value}" for name, value in sorted(ticket.labels.items())]
    return "\n".join(dict.fromkeys(filter(None, lines)))[:_TICKET_CHARACTERS]


def _title(request: PlanRequest) -> str:
    nodes = request.context.nodes
    return nodes[0].node.name if nodes else request.ticket.title


def _provenance(workflow: Workflow, task: _Task, model: str, version: str) -> Provenance:
    documents = dict.fromkeys(c.document_id for s in workflow.steps for c in s.citations)
    nodes = (hit.node for hit in task.request.context.nodes)
    return Provenance(
        planner="llm",
        version=version,
        model=model,
        document_ids=tuple(documents),
        node_ids=tuple(n.id for n in nodes if documents.keys() & set(n.document_ids)),
    )


def _failed(reason: str, model: str, error: Exception) -> None:
    MODEL_FAILURES.labels(reason).inc()
    _log.warning("planner.model_failed", model=model, reason=reason, detail=str(error))
