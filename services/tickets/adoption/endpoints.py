"""HTTP routes for the work on workflows."""

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
from services.kit.access.needs import Need, needs
from services.kit.http.openapi import refusals
from services.tickets.adoption.feedback_recorder import StepNotFoundError, UnusableMarkError
from services.tickets.adoption.service import AdoptionService
from services.tickets.adoption.versions import WorkflowChangedError
from services.tickets.path_ids import TicketId, WorkflowId
from services.tickets.ticket.queries import Queries, TicketNotFoundError, WorkflowNotFoundError
from services.workflow.editing.apply_edits import UnusableEditError

Step = Annotated[str, Path(max_length=400)]
Document = Annotated[str, Query(max_length=1024)]
Heading = Annotated[str, Query(max_length=400)]
Weeks = Annotated[int, Query(ge=1, le=MOST_WEEKS)]


def create_adoption_router(service: AdoptionService, queries: Queries) -> APIRouter:
    """Create the routes for marks, judgements, edits and the acceptance rate."""
    router = APIRouter(tags=["adoption"])

    @router.get("/v1/workflows/{workflow_id}/work", responses=refusals(WorkflowNotFoundError))
    @needs(Need.READ)
    def get_work(workflow_id: WorkflowId) -> Work:
        """Return the progress on a workflow: steps done, the next step, steps left aside."""
        return service.work(workflow_id)

    @router.get("/v1/tickets/{ticket_id}/left-behind", responses=refusals(TicketNotFoundError))
    @needs(Need.READ)
    def get_left_behind(ticket_id: TicketId) -> list[LeftBehind]:
        """List the feedback on a ticket that no step of its workflow shows, latest first.

        It holds words on steps that the workflow of a later walk lacks or has otherwise, words that
        were written over, verdicts on earlier workflows, and versions of these.
        """
        return list(service.left_behind(ticket_id))

    @router.put(
        "/v1/workflows/{workflow_id}/steps/{step_id}/mark",
        responses=refusals(WorkflowNotFoundError, StepNotFoundError, UnusableMarkError),
    )
    @needs(Need.OPERATE)
    def put_mark(workflow_id: WorkflowId, step_id: Step, mark: StepMark) -> Work:
        """Mark a step as done or skipped, with the reason, the observation and the branch followed.

        The mark replaces the previous one in all its fields; `open` takes a tick back. A note that
        the mark does not mention, by `seen` or `was`, is kept as replaced in `left_behind`.
        """
        return service.mark(workflow_id, step_id, mark)

    @router.put(
        "/v1/workflows/{workflow_id}/steps/{step_id}/judgement",
        responses=refusals(WorkflowNotFoundError, StepNotFoundError),
    )
    @needs(Need.OPERATE)
    def put_judgement(workflow_id: WorkflowId, step_id: Step, judgement: StepJudgement) -> Work:
        """Accept or reject a step, with a reason; a rejected one is a doubt about its reading."""
        return service.judge(workflow_id, step_id, judgement)

    @router.put("/v1/workflows/{workflow_id}/acceptance", responses=refusals(WorkflowNotFoundError))
    @needs(Need.OPERATE)
    def put_acceptance(workflow_id: WorkflowId, acceptance: Acceptance) -> Work:
        """Accept the workflow as the answer to the ticket, or take that back.

        To reject it, hand the ticket over: `POST /v1/tickets/{ticket_id}/triage`.
        """
        return service.accept(workflow_id, acceptance)

    @router.post(
        "/v1/workflows/{workflow_id}/versions",
        status_code=201,
        responses=refusals(WorkflowNotFoundError, WorkflowChangedError, UnusableEditError),
    )
    @needs(Need.OPERATE)
    def post_version(workflow_id: WorkflowId, request: EditRequest) -> StoredWorkflow:
        """Edit a workflow: store a new version with its lint issues, which the ticket then shows.

        Edits that change nothing make no version. Only the latest version can be edited.
        """
        return queries.workflow(service.versions.edit(workflow_id, request))

    @router.get("/v1/workflows/{workflow_id}/changes", responses=refusals(WorkflowNotFoundError))
    @needs(Need.READ)
    def get_changes(workflow_id: WorkflowId) -> VersionChanges:
        """List the changes of a version step by step, since its base and since its candidate."""
        return service.versions.changes(workflow_id)

    @router.get("/v1/acceptance")
    @needs(Need.READ)
    def get_acceptance(weeks: Weeks = 12) -> AcceptanceReport:
        """Return the acceptance rate of workflows by week, by writer and by document.

        A workflow is accepted if it had at least three quarters of what was done on its ticket.
        """
        return service.acceptance.report(weeks)

    @router.get("/v1/acceptance/tickets")
    @needs(Need.READ)
    def get_taken_tickets(query: Annotated[TakenQuery, Query()]) -> tuple[TakenTicket, ...]:
        """List the tickets behind a number of the acceptance rate, at most 200."""
        return service.acceptance.tickets(query)

    _add_pages_beside(router, service)
    return router


def _add_pages_beside(router: APIRouter, service: AdoptionService) -> None:
    @router.get("/v1/tickets/{ticket_id}/page-beside", responses=refusals(TicketNotFoundError))
    @needs(Need.READ)
    def get_page_beside(
        ticket_id: TicketId, document: Document, heading: Heading = ""
    ) -> PageBeside:
        """Return a page that the ticket's page links to, with its boxes and their marks.

        `heading` is the fragment of the link: of a page of several tasks it opens the one it names.
        """
        return service.linked_pages.page(ticket_id, document, heading=heading)

    @router.put(
        "/v1/tickets/{ticket_id}/page-beside/{box}/mark",
        responses=refusals(TicketNotFoundError, StepNotFoundError, UnusableMarkError),
    )
    @needs(Need.OPERATE)
    def put_mark_beside(
        ticket_id: TicketId, box: Step, document: Document, mark: StepMark
    ) -> PageBeside:
        """Mark a box of a linked page, by the key of its block.

        The mark is kept by ticket and document, and counts in no figure of the ticket's own
        workflow.
        """
        return service.linked_pages.mark(ticket_id, document, box, mark)
