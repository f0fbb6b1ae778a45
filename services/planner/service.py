"""Planner: the work, from a ticket and its context to candidate workflows."""

import hashlib

import structlog

from services.contracts.planner import Candidate, PlanRequest, PlanResponse
from services.kit.metrics import stage_timer
from services.planner.draft import Draft, assemble
from services.planner.extractive import drafts
from services.planner.guard import guarded
from services.planner.settings import PlannerSettings
from services.workflow.lint import is_clean, lint
from services.workflow.model import Workflow

_log = structlog.get_logger()


class PlannerService:
    """Writes workflows without a model. Implements `contracts.planner.Planner`."""

    def __init__(self, settings: PlannerSettings | None = None) -> None:
        """Needs nothing but the request."""
        self._settings = settings or PlannerSettings()

    def plan(self, request: PlanRequest) -> PlanResponse:
        """See `Planner.plan`; candidates with lint errors are left out."""
        with stage_timer("planner", "extract"):
            ticket = request.ticket
            text = "\n".join((ticket.title, ticket.alert_name, ticket.description))
            found = drafts(request.context, text, documents=self._settings.documents)
            workflows = [_workflow(draft) for draft in found]
        clean = [workflow for workflow in workflows if workflow]
        return PlanResponse(
            candidates=tuple(
                Candidate(id=_id(workflow), workflow=workflow)
                for workflow in clean[: self._settings.candidates]
            )
        )


def _workflow(draft: Draft) -> Workflow | None:
    workflow = assemble(guarded(draft))
    findings = lint(workflow)
    if is_clean(findings):
        return workflow
    _log.warning(
        "planner.workflow_rejected",
        strategy=draft.strategy,
        title=draft.title,
        finding=str(findings[0]),
    )
    return None


def _id(workflow: Workflow) -> str:
    return hashlib.sha256(workflow.model_dump_json().encode()).hexdigest()[:32]
