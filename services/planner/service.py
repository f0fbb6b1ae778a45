"""Planner: from a ticket and its context to candidate workflows; composing beside it."""

import hashlib
import math
import time
from collections.abc import Iterator

import structlog

from services.contracts.planner import Candidate, PlanRequest, PlanResponse
from services.contracts.screened_ticket import ScreenedTicket
from services.kit.observability.metrics import stage_timer
from services.knowledge.ports import Embedder
from services.llm.chat_model import ChatModel
from services.llm.guard import guard_model as guarded_model
from services.planner.checklist import checklists
from services.planner.generation.generative import GenerativePlanner
from services.planner.generation.question import ticket_text
from services.planner.metrics import SUSPICIOUS
from services.planner.readings import competing, workflows
from services.planner.settings import AskModel, PlannerSettings
from services.runbook.checking.approvals import ApprovalUse
from services.workflow.lint import is_clean, lint
from services.workflow.model import Workflow

_log = structlog.get_logger()


class PlannerService:
    """Planner with and without a model. Implements `contracts.planner.Planner`."""

    def __init__(
        self,
        settings: PlannerSettings | None = None,
        *,
        model: ChatModel | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        """Set up the planner; a model needs an embedder beside it.

        Raises:
            ValueError: A model was given without an embedder.
        """
        self._settings = settings or PlannerSettings()
        if model and embedder is None:
            raise ValueError(
                "a planner with a model needs an embedder to verify what the model cites"
            )
        self._generative = (
            GenerativePlanner(guarded_model(model), embedder, self._settings)
            if model and embedder
            else None
        )

    def plan(self, request: PlanRequest) -> PlanResponse:
        """See `Planner.plan`; candidates with lint errors are left out."""
        return PlanResponse(candidates=tuple(self.stream(request)))

    def stream(self, request: PlanRequest) -> Iterator[Candidate]:
        """See `Planner.stream`; candidates that need no model come first, at once."""
        start = time.monotonic()
        safe = ScreenedTicket(request.ticket)
        if safe.suspicious:
            SUSPICIOUS.inc(len(safe.suspicious))
            _log.warning(
                "planner.instructions_left_out",
                texts=len(safe.suspicious),
                first=safe.suspicious[0],
            )
        request = request.model_copy(update={"ticket": safe.for_model()})
        seen: set[object] = set()
        for workflow in self._extract(request):
            seen.add(_content(workflow))
            yield Candidate(id=_candidate_id(workflow), workflow=workflow)
        has_time = request.deadline_s is None or request.deadline_s > 0
        if self._generative is None or not has_time:
            return
        if not should_ask_model(self._settings.ask_model, request):
            return
        ends = start + min(self._settings.deadline_s, request.deadline_s or math.inf)
        with stage_timer("planner", "generate", is_stream=True):
            for workflow in self._generative.write(request, ends=ends):
                if _content(workflow) not in seen:
                    seen.add(_content(workflow))
                    yield Candidate(id=_candidate_id(workflow), workflow=workflow)

    def _extract(self, request: PlanRequest) -> list[Workflow]:
        with stage_timer("planner", "extract"):
            documents = self._settings.documents
            pages = checklists(request, competing(request.pages)[:documents])
            read = [w for w in workflows(request, documents=documents) if _is_sound(w)]
            return [*pages, *read[: self._settings.candidates]]


def _is_sound(workflow: Workflow) -> bool:
    findings = lint(workflow)
    if is_clean(findings):
        return True
    _log.warning(
        "planner.workflow_rejected", title=workflow.title, finding=str(findings[0].message)
    )
    return False


def _content(workflow: Workflow) -> object:
    """Return the content by which candidates are compared, whoever wrote them."""
    return workflow.steps, workflow.transitions


def _candidate_id(workflow: Workflow) -> str:
    return hashlib.sha256(workflow.model_dump_json().encode()).hexdigest()[:32]


def should_ask_model(when: AskModel, request: PlanRequest) -> bool:
    """Return True if the policy asks the model for this ticket."""
    match when:
        case AskModel.NEVER:
            return False
        case AskModel.UNREAD:
            return not any(page.is_read for page in request.pages[:1])
        case AskModel.UNCHECKED:
            # The best page's procedure for the fault, not just any of its, is to be approved.
            text = ticket_text(request.ticket)
            first = request.pages[:1]
            return not any(page.is_approved_for(ApprovalUse.ASK_NO_MODEL, text) for page in first)
        case AskModel.ALWAYS:
            return True
