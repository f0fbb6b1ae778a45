"""The work on workflows over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from services.contracts.adoption import (
    MOST_WEEKS,
    Acceptance,
    AcceptanceReport,
    EditRequest,
    LeftBehind,
    PageBeside,
    StepJudgement,
    StepMark,
    TakenQuery,
    TakenTicket,
    VersionChanges,
    Work,
)
from services.contracts.gateway import StoredWorkflow
from services.gateway.adoption.marking import StepNotFoundError, UnusableMarkError
from services.gateway.adoption.service import AdoptionService
from services.gateway.adoption.versions import WorkflowChangedError
from services.gateway.ticket.addresses import Id
from services.gateway.ticket.queries import Queries, TicketNotFoundError, WorkflowNotFoundError
from services.kit.access.needs import Need, needs
from services.kit.http.openapi import refusals
from services.workflow.editing.edited import UnusableEditError

Step = Annotated[str, Path(max_length=400)]
Document = Annotated[str, Query(max_length=1024)]
Heading = Annotated[str, Query(max_length=400)]
Weeks = Annotated[int, Query(ge=1, le=MOST_WEEKS)]


def create_adoption_router(service: AdoptionService, queries: Queries) -> APIRouter:
    """The work on workflows, over what does it."""
    router = APIRouter(tags=["adoption"])

    @router.get("/v1/workflows/{workflow_id}/work", responses=refusals(WorkflowNotFoundError))
    @needs(Need.READ)
    def get_work(workflow_id: Id) -> Work:
        """How far the work on a workflow is: what was done, what is next, what is left aside."""
        return service.work(workflow_id)

    @router.get("/v1/tickets/{ticket_id}/left-behind", responses=refusals(TicketNotFoundError))
    @needs(Need.READ)
    def get_left_behind(ticket_id: Id) -> list[LeftBehind]:
        """What people did and said on a ticket that no step of its workflow shows, latest first.

        Words on steps that a later walk's workflow does not have, or has otherwise; words that
        others were written over; verdicts on earlier workflows, and versions of these.
        """
        return list(service.left_behind(ticket_id))

    @router.put(
        "/v1/workflows/{workflow_id}/steps/{step_id}/mark",
        responses=refusals(WorkflowNotFoundError, StepNotFoundError, UnusableMarkError),
    )
    @needs(Need.OPERATE)
    def put_mark(workflow_id: Id, step_id: Step, mark: StepMark) -> Work:
        """Say that a step is done, or skipped and why, what was seen, which branch was followed.

        It takes the place of what was said before, in all its fields; `open` takes a tick back. A
        note that the mark does not speak of, with `seen` or `was`, is kept as replaced in
        `left_behind`.
        """
        return service.mark(workflow_id, step_id, mark)

    @router.put(
        "/v1/workflows/{workflow_id}/steps/{step_id}/judgement",
        responses=refusals(WorkflowNotFoundError, StepNotFoundError),
    )
    @needs(Need.OPERATE)
    def put_judgement(workflow_id: Id, step_id: Step, judgement: StepJudgement) -> Work:
        """Accept or reject a step, with a word why; rejected, it is a doubt of its reading."""
        return service.judge(workflow_id, step_id, judgement)

    @router.put("/v1/workflows/{workflow_id}/acceptance", responses=refusals(WorkflowNotFoundError))
    @needs(Need.OPERATE)
    def put_acceptance(workflow_id: Id, acceptance: Acceptance) -> Work:
        """Say that the workflow was the answer, or take it back.

        That it was not is said by `POST /v1/tickets/{ticket_id}/triage`, which hands it over.
        """
        return service.accept(workflow_id, acceptance)

    @router.post(
        "/v1/workflows/{workflow_id}/versions",
        status_code=201,
        responses=refusals(WorkflowNotFoundError, WorkflowChangedError, UnusableEditError),
    )
    @needs(Need.OPERATE)
    def post_version(workflow_id: Id, request: EditRequest) -> StoredWorkflow:
        """Edit a workflow: a new version is made, with its lint findings, and the ticket shows it.

        Edits that change nothing make none. Only the latest version can be edited.
        """
        return queries.workflow(service.edit(workflow_id, request))

    @router.get("/v1/workflows/{workflow_id}/changes", responses=refusals(WorkflowNotFoundError))
    @needs(Need.READ)
    def get_changes(workflow_id: Id) -> VersionChanges:
        """What a version changes, step by step: of what was edited, and of its candidate."""
        return service.changes(workflow_id)

    @router.get("/v1/acceptance")
    @needs(Need.READ)
    def get_acceptance(weeks: Weeks = 12) -> AcceptanceReport:
        """How workflows were taken: by week, by writer, by document.

        A workflow is accepted where it had at least three quarters of what was done on its ticket.
        """
        return service.report(weeks)

    @router.get("/v1/acceptance/tickets")
    @needs(Need.READ)
    def get_taken_tickets(query: Annotated[TakenQuery, Query()]) -> tuple[TakenTicket, ...]:
        """The tickets that a number of the acceptance rate counts, at most 200."""
        return service.taken(query)

    _add_pages_beside(router, service)
    return router


def _add_pages_beside(router: APIRouter, service: AdoptionService) -> None:
    @router.get("/v1/tickets/{ticket_id}/page-beside", responses=refusals(TicketNotFoundError))
    @needs(Need.READ)
    def get_page_beside(ticket_id: Id, document: Document, heading: Heading = "") -> PageBeside:
        """A page that the ticket's page links to, with its boxes and what was done with them.

        `heading` is the fragment of the link: of a page of several tasks it opens the one it names.
        """
        return service.beside(ticket_id, document, heading=heading)

    @router.put(
        "/v1/tickets/{ticket_id}/page-beside/{box}/mark",
        responses=refusals(TicketNotFoundError, StepNotFoundError, UnusableMarkError),
    )
    @needs(Need.OPERATE)
    def put_mark_beside(ticket_id: Id, box: Step, document: Document, mark: StepMark) -> PageBeside:
        """Say what was done with a box of such a page, by the key of its block.

        It is kept by ticket and document, and counts in no figure of the ticket's own workflow.
        """
        return service.mark_beside(ticket_id, document, box, mark)
