"""Pages of runs, runs by hand and summaries: approvals, questions and outputs; for phones too."""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response

from services.contracts.execution import (
    ChangedSinceError,
    ChosenCall,
    Execution,
    RunAnswer,
    RunDecision,
    RunDetail,
    RunMode,
    StartByHand,
    StartRun,
    Suspend,
)
from services.contracts.summaries import Summaries, SummaryRequest
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError
from services.tickets.path_ids import TicketId
from services.tickets.service import TicketService
from services.tickets.ticket.addresses import Id
from services.web.ui.forms import FormFields, arguments_of, form_route, redirect_to
from services.web.ui.run_bindings import create_binding_pages, needs_approval
from services.web.ui.templates import render, render_refusal

_Digest = Annotated[str, Form(max_length=64)]
_Words = Annotated[str, Form(max_length=2000)]


def create_run_pages(
    tickets: TicketService, execution: Execution, summaries: Summaries
) -> list[APIRouter]:
    """Build the routers of runs and summaries, with their forms."""
    return [
        create_summary_pages(execution, summaries),
        _create_view_router(tickets, execution),
        _create_start_router(execution),
        create_binding_pages(tickets, execution),
        create_by_hand_pages(tickets, execution),
        _create_action_router(execution),
    ]


def _create_view_router(tickets: TicketService, execution: Execution) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/runs")
    @needs(Need.READ)
    def runs_page() -> HTMLResponse:
        """List the latest runs, those that are not over first."""
        try:
            runs, suspended = execution.runs(), execution.suspension()
        except FlowXpertError as error:
            return render_refusal(error)
        may = current_caller().may
        return render(
            "runs/list.html",
            runs=runs,
            suspended=suspended,
            may_run=may(Scope.RUN),
            may_approve=may(Scope.APPROVE),
        )

    @router.get("/runs/{run_id}")
    @needs(Need.READ)
    def run_page(run_id: Id) -> HTMLResponse:
        """Show one run, with what waits for a person first."""
        try:
            run = execution.run(run_id)
            ticket = tickets.queries.ticket(run.ticket_id)
            of_page = bool(run.workflow_id)
            bindings = execution.bindings(run.ticket_id, run.workflow_id) if of_page else []
            is_checklist = (
                of_page and tickets.queries.workflow(run.workflow_id).workflow.is_checklist
            )
            earlier = [each for each in execution.runs(run.ticket_id) if each.id != run.id]
            suspended = execution.suspension()
        except FlowXpertError as error:
            return render_refusal(error)
        may = current_caller().may
        return render(
            "runs/page.html",
            run=run,
            ticket=ticket,
            bindings={each.step: each for each in bindings},
            unsaid=[
                each.step for each in bindings if needs_approval(each) and not each.approved_by
            ],
            box=run.steps[0].id if is_checklist else "",
            earlier=earlier,
            suspended=suspended,
            may_run=may(Scope.RUN),
            may_approve=may(Scope.APPROVE),
        )

    return router


def _create_start_router(execution: Execution) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/runs")
    @form_route()
    @needs(Need.RUN)
    def start_run(
        ticket_id: TicketId,
        mode: Annotated[RunMode, Form()] = RunMode.DRY,
        workflow_id: Annotated[str, Form(max_length=200)] = "",
        confirms: Annotated[bool, Form()] = False,
        step: Annotated[str, Form(max_length=400)] = "",
    ) -> Response:
        """Start a run, or a look at one box of a checklist, and show it."""
        request = StartRun(
            ticket_id=ticket_id,
            workflow_id=workflow_id,
            step=step,
            mode=mode,
            confirms_page=confirms,
        )
        return redirect_to("runs", execution.start(request).id)

    @router.post("/runs/suspension")
    @form_route()
    @needs(Need.RUN)
    def suspend_runs(why: _Words = "") -> Response:
        """Suspend all runs."""
        execution.suspend(Suspend(why=why[:500]))
        return redirect_to("runs")

    @router.post("/runs/release")
    @form_route()
    @needs(Need.APPROVE)
    def release_runs() -> Response:
        """Let all runs go on."""
        execution.release()
        return redirect_to("runs")

    return router


def _create_action_router(execution: Execution) -> APIRouter:
    router = APIRouter(include_in_schema=False, prefix="/runs/{run_id}")

    @router.post("/approval")
    @form_route()
    @needs(Need.APPROVE)
    def approve_change(run_id: Id, digest: _Digest) -> Response:
        """Approve exactly this change to be sent."""
        with suppress(ChangedSinceError):  # the page shows it again, with the difference
            execution.approve(run_id, RunDecision(digest=digest))
        return redirect_to("runs", run_id)

    @router.post("/denial")
    @form_route()
    @needs(Need.RUN)
    def deny_change(run_id: Id, digest: _Digest, word: _Words = "") -> Response:
        """Refuse the change for good."""
        execution.deny(run_id, RunDecision(digest=digest, word=word))
        return redirect_to("runs", run_id)

    @router.post("/answer")
    @form_route()
    @needs(Need.RUN)
    def answer_run(run_id: Id, fields: FormFields) -> Response:
        """Answer the run's question."""
        answer = RunAnswer(
            question=int(fields.get("question", "0")),
            option=fields.get("option", ""),
            arguments=arguments_of(fields),
            word=fields.get("word", ""),
        )
        execution.answer(run_id, answer)
        return redirect_to("runs", run_id)

    actions: dict[str, Callable[[str], RunDetail]] = {
        "pause": execution.pause,
        "resumption": execution.resume,
        "cancellation": execution.cancel,
        "taking-over": execution.take_over,
    }

    @router.post("/{act}")
    @form_route()
    @needs(Need.RUN)
    def act_on_run(run_id: Id, act: str) -> Response:
        """Pause, resume, cancel or take over the run."""
        if act in actions:
            actions[act](run_id)
        return redirect_to("runs", run_id)

    return router


def create_by_hand_pages(tickets: TicketService, execution: Execution) -> APIRouter:
    """Build the router of the page for runs by hand, and its form."""
    router = APIRouter(include_in_schema=False, prefix="/tickets/{ticket_id}/by-hand")

    @router.get("")
    @needs(Need.RUN)
    def by_hand_page(ticket_id: TicketId, tool: str = "") -> HTMLResponse:
        """Show the available tools; `tool` shows what one of them needs."""
        try:
            ticket, tools = tickets.queries.ticket(ticket_id), execution.tools()
            earlier = execution.runs(ticket_id)
        except FlowXpertError as error:
            return render_refusal(error)
        chosen = next((each for each in tools if each.name == tool), None)
        return render(
            "runs/by_hand.html", ticket=ticket, tools=tools, chosen=chosen, earlier=earlier
        )

    @router.post("")
    @form_route()
    @needs(Need.RUN)
    def start_by_hand(ticket_id: TicketId, fields: FormFields) -> Response:
        """Start the run, and show it."""
        call = ChosenCall(
            tool=fields.get("tool", "")[:100],
            target=fields.get("target", "")[:100],
            arguments=arguments_of(fields),
        )
        run = execution.start_by_hand(StartByHand(ticket_id=ticket_id, calls=(call,)))
        return redirect_to("runs", run.id)

    return router


LONGEST_TITLE = 300


def create_summary_pages(execution: Execution, summaries: Summaries) -> APIRouter:
    """Build the router of a summary's page, and the forms that create and propose it."""
    router = APIRouter(include_in_schema=False)

    @router.post("/runs/{run_id}/summary")
    @form_route()
    @needs(Need.RUN)
    def summarise_run(run_id: Id) -> Response:
        """Summarise what was done about the run's ticket, searches and other runs included."""
        run = execution.run(run_id)
        title = run.ticket_title[:LONGEST_TITLE]
        request = SummaryRequest(run_ids=(run_id,), ticket_ids=(run.ticket_id,), title=title)
        return redirect_to("summaries", summaries.summarise(request).key)

    @router.get("/summaries/{key}")
    @needs(Need.READ)
    def summary_page(key: Id) -> HTMLResponse:
        """Show what was learned, and how it performs on the traces that it was learned from."""
        try:
            summary = summaries.summary(key)
        except FlowXpertError as error:
            return render_refusal(error)
        return render("runs/summary.html", summary=summary, may_run=current_caller().may(Scope.RUN))

    @router.post("/summaries/{key}/proposal")
    @form_route()
    @needs(Need.RUN)
    def propose_summary(key: Id) -> Response:
        """Propose the pages of the summary, for somebody else to accept."""
        summaries.propose(key)
        return redirect_to("summaries", key)

    return router
