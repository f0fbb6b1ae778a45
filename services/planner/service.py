"""Planner: from a ticket and its context to candidate workflows; composing beside it."""

import hashlib
import math
import time
from collections.abc import Iterator

import structlog

from services.contracts.planner import Candidate, PlanRequest, PlanResponse
from services.contracts.screened_ticket import screened
from services.contracts.ticket import TicketDraft
from services.kit.observability.metrics import stage_timer
from services.knowledge.ports import Embedder
from services.llm.chat_model import ChatModel
from services.llm.guard import guarded as guarded_model
from services.planner.generation.asking import is_asked
from services.planner.generation.generative import GenerativePlanner
from services.planner.metrics import SUSPICIOUS
from services.planner.settings import PlannerSettings
from services.planner.strategies.checklist import checklists
from services.planner.strategies.readings import competing, workflows
from services.workflow.lint import is_clean, lint
from services.workflow.model import Workflow

_log = structlog.get_logger()


class PlannerService:
    """Writes workflows, with a model and without. Implements `contracts.planner.Planner`."""

    def __init__(
        self,
        settings: PlannerSettings | None = None,
        *,
        model: ChatModel | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        """Without a model it needs nothing but the request; a model needs the embedder beside it.

        Raises:
            ValueError: A model was given without an embedder.
        """
        self._settings = settings or PlannerSettings()
        self._generative = _generative(model, embedder, self._settings) if model else None

    def plan(self, request: PlanRequest) -> PlanResponse:
        """See `Planner.plan`; candidates with lint errors are left out."""
        return PlanResponse(candidates=tuple(self.stream(request)))

    def stream(self, request: PlanRequest) -> Iterator[Candidate]:
        """See `Planner.stream`; those that need no model come first, at once."""
        start = time.monotonic()
        request = request.model_copy(update={"ticket": _screened(request.ticket)})
        known: set[object] = set()
        for workflow in self._extracted(request):
            known.add(_content(workflow))
            yield Candidate(id=_id(workflow), workflow=workflow)
        if self._generative is None or not self._asks(request):
            return
        ends = start + min(self._settings.deadline_s, request.deadline_s or math.inf)
        with stage_timer("planner", "generate", is_stream=True):
            for workflow in self._generative.write(request, ends=ends):
                if _content(workflow) not in known:
                    known.add(_content(workflow))
                    yield Candidate(id=_id(workflow), workflow=workflow)

    def _asks(self, request: PlanRequest) -> bool:
        has_time = request.deadline_s is None or request.deadline_s > 0
        return has_time and is_asked(self._settings.ask_model, request)

    def _extracted(self, request: PlanRequest) -> list[Workflow]:
        with stage_timer("planner", "extract"):
            documents = self._settings.documents
            pages = checklists(request, competing(request.pages)[:documents])
            read = [w for w in workflows(request, documents=documents) if _is_sound(w)]
            return [*pages, *read[: self._settings.candidates]]


def _generative(
    model: ChatModel, embedder: Embedder | None, settings: PlannerSettings
) -> GenerativePlanner:
    if embedder is None:
        raise ValueError("a planner with a model needs an embedder to verify what the model cites")
    return GenerativePlanner(guarded_model(model), embedder, settings)


def _screened(ticket: TicketDraft) -> TicketDraft:
    safe = screened(ticket)
    if safe.suspicious:
        SUSPICIOUS.inc(len(safe.suspicious))
        _log.warning(
            "planner.instructions_left_out", texts=len(safe.suspicious), first=safe.suspicious[0]
        )
    return safe.ticket


def _is_sound(workflow: Workflow) -> bool:
    findings = lint(workflow)
    if is_clean(findings):
        return True
    _log.warning(
        "planner.workflow_rejected", title=workflow.title, finding=str(findings[0].message)
    )
    return False


def _content(workflow: Workflow) -> object:
    """What makes it another candidate, whoever wrote it."""
    return workflow.steps, workflow.transitions


def _id(workflow: Workflow) -> str:
    return hashlib.sha256(workflow.model_dump_json().encode()).hexdigest()[:32]
