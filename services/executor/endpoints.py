"""The executor over HTTP; the caller of a request is whoever acts."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from services.contracts.execution import (
    BindingApproval,
    Execution,
    FailedCommand,
    LookAtOnce,
    LookedAtOnce,
    OrphanedBinding,
    RunAnswer,
    RunDecision,
    RunDetail,
    RunSummary,
    StartByHand,
    StartRun,
    StepBinding,
    Suspend,
    Suspended,
    ToolSummary,
)
from services.contracts.searching import (
    SearchDetail,
    Searches,
    SearchMeans,
    SearchPruning,
    SearchRequest,
    SearchSummary,
    StartSearch,
)
from services.contracts.summaries import Summaries, SummaryReport, SummaryRequest
from services.contracts.ticket import PurgedTickets
from services.execution.service import ChecklistRunError, RunRefusedError
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from services.kit.http.openapi import refusals

_ID = Annotated[str, Query(max_length=200)]
_Weeks = Annotated[int, Query(ge=1, le=52, description="How many weeks back.")]
_ACTS = refusals(NotFoundError, ConflictError)


def create_routers(
    execution: Execution, searching: Searches, summaries: Summaries
) -> list[APIRouter]:
    """Build the routes, as a function of the contracts."""
    routers = [make(execution) for make in (_runs, _acts, _bindings, _suspension)]
    routers += [_searches(searching), _steering(searching), _summaries(summaries)]
    return [*routers, _removals(summaries)]


def _runs(execution: Execution) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["runs"])

    @router.post(
        "/runs",
        status_code=201,
        responses=refusals(NotFoundError, RunRefusedError, ChecklistRunError, ForbiddenError),
    )
    @needs(Need.RUN)
    def start_run(wanted: StartRun) -> RunDetail:
        """Carry out a ticket's workflow: dry, only looking, or changing what people approve.

        A dry run is over at once, and says of each step what would be sent where. A checklist is
        not carried out: a person names the box that they stand at, and a tool looks there.
        """
        return execution.start(wanted)

    @router.post(
        "/runs/by-hand",
        status_code=201,
        responses=refusals(NotFoundError, ConflictError, InvalidInputError, ForbiddenError),
    )
    @needs(Need.RUN)
    def start_run_by_hand(wanted: StartByHand) -> RunDetail:
        """Carry out tools that a person chose; each change needs approval as in every run."""
        return execution.start_by_hand(wanted)

    @router.post("/looks", responses=refusals(NotFoundError))
    @needs(Need.RUN)
    def look_at_once(wanted: LookAtOnce) -> LookedAtOnce:
        """Look at what a workflow asks, once, where the policy says that reads are done at once.

        It asks nobody and changes nothing; a repeated request returns the same run.
        """
        return execution.look_at_once(wanted)

    @router.get("/runs")
    @needs(Need.READ)
    def list_runs(ticket_id: _ID = "") -> list[RunSummary]:
        """List runs of a ticket, or the latest of all: those that are not over first."""
        return execution.runs(ticket_id)

    @router.get("/failed-commands")
    @needs(Need.READ)
    def list_failed_commands(weeks: _Weeks = 12) -> list[FailedCommand]:
        """List commands of pages that a target did not understand, and none has since."""
        return execution.failed_commands(weeks=weeks)

    @router.get("/runs/{run_id}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_run(run_id: str) -> RunDetail:
        """Get a run with its steps, what waits for people, and all that happened."""
        return execution.run(run_id)

    return router


def _acts(execution: Execution) -> APIRouter:
    router = APIRouter(prefix="/v1/runs/{run_id}", tags=["runs"])

    @router.post("/approval", responses=refusals(NotFoundError, ConflictError, ForbiddenError))
    @needs(Need.APPROVE)
    def approve_change(run_id: str, decision: RunDecision) -> RunDetail:
        """Approve exactly the change that the digest names; it may be sent once."""
        return execution.approve(run_id, decision)

    @router.post("/denial", responses=_ACTS)
    @needs(Need.RUN)
    def deny_change(run_id: str, decision: RunDecision) -> RunDetail:
        """Deny a change for good."""
        return execution.deny(run_id, decision)

    @router.post("/answer", responses=refusals(NotFoundError, ConflictError, InvalidInputError))
    @needs(Need.RUN)
    def answer_run(run_id: str, answer: RunAnswer) -> RunDetail:
        """Answer the run's open question."""
        return execution.answer(run_id, answer)

    @router.post("/pause", responses=_ACTS)
    @needs(Need.RUN)
    def pause_run(run_id: str) -> RunDetail:
        """Pause the run after what is being sent."""
        return execution.pause(run_id)

    @router.post("/resumption", responses=_ACTS)
    @needs(Need.RUN)
    def resume_run(run_id: str) -> RunDetail:
        """Resume the run."""
        return execution.resume(run_id)

    @router.post("/cancellation", responses=_ACTS)
    @needs(Need.RUN)
    def cancel_run(run_id: str) -> RunDetail:
        """End the run."""
        return execution.cancel(run_id)

    @router.post("/taking-over", responses=_ACTS)
    @needs(Need.RUN)
    def take_run_over(run_id: str) -> RunDetail:
        """End the run, since the caller goes on by hand."""
        return execution.take_over(run_id)

    return router


def _bindings(execution: Execution) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["bindings"])

    @router.get("/bindings", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def list_bindings(ticket_id: _ID, workflow_id: _ID = "") -> list[StepBinding]:
        """List how each step of a ticket's workflow is carried out, proposed or approved."""
        return execution.bindings(ticket_id, workflow_id)

    @router.get("/bindings/orphaned")
    @needs(Need.READ)
    def list_orphaned_bindings(
        document_id: Annotated[str, Query(max_length=1024)],
    ) -> list[OrphanedBinding]:
        """List approved bindings for steps of a page that no reading of it has any more."""
        return execution.orphaned_bindings(document_id)

    @router.post(
        "/bindings",
        responses=refusals(NotFoundError, ConflictError, InvalidInputError, ForbiddenError),
    )
    @needs(Need.APPROVE)
    def approve_binding(approval: BindingApproval) -> StepBinding:
        """Vouch for a binding exactly as it is; it holds for the step wherever that stands."""
        return execution.approve_binding(approval)

    @router.delete(
        "/bindings/{key}", status_code=204, responses=refusals(NotFoundError, ForbiddenError)
    )
    @needs(Need.APPROVE)
    def withdraw_binding(key: Annotated[str, Path(max_length=64)]) -> None:
        """Withdraw the approval of a binding; a change that waits by it is not sent."""
        execution.withdraw_binding(key)

    @router.get("/tools")
    @needs(Need.READ)
    def list_tools() -> list[ToolSummary]:
        """List the tools of the catalogue, with their parameters and output fields."""
        return execution.tools()

    return router


def _suspension(execution: Execution) -> APIRouter:
    router = APIRouter(prefix="/v1/suspension", tags=["runs"])

    @router.get("")
    @needs(Need.READ)
    def get_suspension() -> Suspended | None:
        """Get the suspension of all runs, with who suspended them and why, if there is one."""
        return execution.suspension()

    @router.post("", status_code=204)
    @needs(Need.RUN)
    def suspend_runs(request: Suspend) -> None:
        """Suspend all runs; it wins over every other state."""
        execution.suspend(request)

    @router.delete("", status_code=204)
    @needs(Need.APPROVE)
    def release_runs() -> None:
        """Release all runs from the suspension."""
        execution.release()

    return router


def _searches(searching: Searches) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["searches"])

    @router.get("/search-means")
    @needs(Need.READ)
    def get_search_means() -> SearchMeans:
        """Get whether a search can be started, and which experts would search."""
        return searching.means()

    @router.post(
        "/searches",
        status_code=201,
        responses=refusals(NotFoundError, ConflictError, InvalidInputError),
    )
    @needs(Need.RUN)
    def start_search(wanted: StartSearch) -> SearchDetail:
        """Search for the cause of a ticket: experts look, and nothing is changed."""
        return searching.start(wanted)

    @router.get("/searches")
    @needs(Need.READ)
    def list_searches(ticket_id: _ID = "") -> list[SearchSummary]:
        """List searches of a ticket, or the latest of all: those that are not over first."""
        return searching.searches(ticket_id)

    @router.get("/searches/{search_id}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_search(search_id: str) -> SearchDetail:
        """Get a search with its tree, what was seen, and its outcome."""
        return searching.search(search_id)

    return router


def _steering(searching: Searches) -> APIRouter:
    router = APIRouter(prefix="/v1/searches/{search_id}", tags=["searches"])

    @router.post("/pruning", responses=_ACTS)
    @needs(Need.RUN)
    def prune_branch(search_id: str, pruning: SearchPruning) -> SearchDetail:
        """Prune a branch: what was seen there does not count any more."""
        return searching.prune(search_id, pruning)

    @router.post("/requests", responses=refusals(NotFoundError, ConflictError, InvalidInputError))
    @needs(Need.RUN)
    def ask_for_look(search_id: str, request: SearchRequest) -> SearchDetail:
        """Request a look, to be made next."""
        return searching.ask_for(search_id, request)

    @router.post("/pause", responses=_ACTS)
    @needs(Need.RUN)
    def pause_search(search_id: str) -> SearchDetail:
        """Pause the search after the current question."""
        return searching.pause(search_id)

    @router.post("/resumption", responses=_ACTS)
    @needs(Need.RUN)
    def resume_search(search_id: str) -> SearchDetail:
        """Resume the search."""
        return searching.resume(search_id)

    @router.post("/taking-over", responses=_ACTS)
    @needs(Need.RUN)
    def take_search_over(search_id: str) -> SearchDetail:
        """End the search, since the caller goes on by hand."""
        return searching.take_over(search_id)

    @router.post("/cancellation", responses=_ACTS)
    @needs(Need.RUN)
    def cancel_search(search_id: str) -> SearchDetail:
        """End the search."""
        return searching.cancel(search_id)

    return router


def _removals(summaries: Summaries) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["runs"])

    @router.post("/runs/removals", status_code=204)
    @needs(Need.PLATFORM)
    def remove_runs(purged: PurgedTickets) -> None:
        """Delete the runs, searches and summaries of purged tickets, open ones too."""
        summaries.forget_tickets(purged)

    return router


def _summaries(summaries: Summaries) -> APIRouter:
    router = APIRouter(prefix="/v1/summaries", tags=["summaries"])

    @router.post("", status_code=201, responses=_ACTS)
    @needs(Need.RUN)
    def summarise_runs(request: SummaryRequest) -> SummaryReport:
        """Learn a page from what was done in runs; the same request returns what exists."""
        return summaries.summarise(request)

    @router.get("/{key}", responses=refusals(NotFoundError))
    @needs(Need.RUN)
    def get_summary(key: str) -> SummaryReport:
        """Get what was learned, or why nothing was."""
        return summaries.summary(key)

    @router.post("/{key}/proposal", status_code=202, responses=_ACTS)
    @needs(Need.RUN)
    def propose_summary(key: str) -> SummaryReport:
        """Propose its pages; somebody else accepts them before any ticket finds them."""
        return summaries.propose(key)

    return router
