"""The work on workflows over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from services.contracts.adoption import (
    Acceptance,
    AcceptanceReport,
    EditRequest,
    StepJudgement,
    StepMark,
    VersionChanges,
    Work,
)
from services.contracts.gateway import StoredWorkflow
from services.gateway.adoption.acceptance import MOST_WEEKS
from services.gateway.adoption.marking import StepNotFoundError, UnusableMarkError
from services.gateway.adoption.service import AdoptionService
from services.gateway.adoption.versions import WorkflowChangedError
from services.gateway.endpoints import Id
from services.gateway.endpoints import Service as Gateway
from services.gateway.ticket.queries import WorkflowNotFoundError
from services.kit.http.openapi import refusals
from services.workflow.editing.edited import UnusableEditError

router = APIRouter(tags=["adoption"])


async def _service(request: Request) -> AdoptionService:
    service: AdoptionService = request.app.state.adoption
    return service


Service = Annotated[AdoptionService, Depends(_service)]
Step = Annotated[str, Path(max_length=400)]
Weeks = Annotated[int, Query(ge=1, le=MOST_WEEKS)]


@router.get("/v1/workflows/{workflow_id}/work", responses=refusals(WorkflowNotFoundError))
def get_work(service: Service, workflow_id: Id) -> Work:
    """How far the work on a workflow is: what was done, what is next, what is left aside."""
    return service.work(workflow_id)


@router.put(
    "/v1/workflows/{workflow_id}/steps/{step_id}/mark",
    responses=refusals(WorkflowNotFoundError, StepNotFoundError, UnusableMarkError),
)
def put_mark(service: Service, workflow_id: Id, step_id: Step, mark: StepMark) -> Work:
    """Say that a step is done, or skipped and why, what was seen, which branch was followed.

    It takes the place of what was said before; `open` takes a tick back.
    """
    return service.mark(workflow_id, step_id, mark)


@router.put(
    "/v1/workflows/{workflow_id}/steps/{step_id}/judgement",
    responses=refusals(WorkflowNotFoundError, StepNotFoundError),
)
def put_judgement(
    service: Service, workflow_id: Id, step_id: Step, judgement: StepJudgement
) -> Work:
    """Accept or reject a step, with a word why; rejected, it is a doubt of its page's reading."""
    return service.judge(workflow_id, step_id, judgement)


@router.put("/v1/workflows/{workflow_id}/acceptance", responses=refusals(WorkflowNotFoundError))
def put_acceptance(service: Service, workflow_id: Id, acceptance: Acceptance) -> Work:
    """Say that the workflow was the answer, or take it back.

    That it was not is said by `POST /v1/tickets/{ticket_id}/triage`, which hands the ticket over.
    """
    return service.accept(workflow_id, acceptance)


@router.post(
    "/v1/workflows/{workflow_id}/versions",
    status_code=201,
    responses=refusals(WorkflowNotFoundError, WorkflowChangedError, UnusableEditError),
)
def post_version(
    service: Service, gateway: Gateway, workflow_id: Id, request: EditRequest
) -> StoredWorkflow:
    """Edit a workflow: a new version is made, with its lint findings, and the ticket shows it.

    Edits that change nothing make none. Only the latest version can be edited.
    """
    return gateway.workflow(service.edit(workflow_id, request))


@router.get("/v1/workflows/{workflow_id}/changes", responses=refusals(WorkflowNotFoundError))
def get_changes(service: Service, workflow_id: Id) -> VersionChanges:
    """What a version changes, step by step: of what was edited, and of its candidate."""
    return service.changes(workflow_id)


@router.get("/v1/acceptance")
def get_acceptance(service: Service, weeks: Weeks = 12) -> AcceptanceReport:
    """How workflows were taken: by week, by writer, by document.

    A workflow is accepted where at least three quarters of its core steps were used.
    """
    return service.counting.report(weeks)
