"""Runs: what is sent, what waits for leave or an answer, what was seen; made for a phone too."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response

from services.contracts.execution import (
    Execution,
    RunAnswer,
    RunDecision,
    RunDetail,
    RunMode,
    StartRun,
    Suspend,
)
from services.contracts.summaries import Summaries
from services.gateway.ports import Tickets
from services.gateway.ticket.addresses import Id
from services.gateway.ui.forms import form, show
from services.gateway.ui.runs.bindings import create_binding_pages, is_weighty
from services.gateway.ui.runs.by_hand import create_by_hand_pages
from services.gateway.ui.runs.summaries import create_summary_pages
from services.gateway.ui.runs.told import Told, arguments_of
from services.gateway.ui.templates import refused, render
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError

_Digest = Annotated[str, Form(max_length=64)]
_Words = Annotated[str, Form(max_length=2000)]


def create_run_pages(
    tickets: Tickets, execution: Execution, summaries: Summaries
) -> list[APIRouter]:
    """The pages and their forms, over what carries workflows out and writes down what was done."""
    return [
        create_summary_pages(execution, summaries),
        _looks(tickets, execution),
        _starts(execution),
        create_binding_pages(tickets, execution),
        create_by_hand_pages(tickets, execution),
        _acts(execution),
    ]


def _looks(tickets: Tickets, execution: Execution) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/runs")
    @needs(Need.READ)
    def runs_page() -> HTMLResponse:
        """The latest runs, those that are not over first."""
        try:
            runs, suspended = execution.runs(), execution.suspension()
        except FlowXpertError as error:
            return refused(error)
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
        """One run, with what waits for somebody first."""
        try:
            run = execution.run(run_id)
            ticket = tickets.ticket(run.ticket_id)
            of_page = bool(run.workflow_id)
            bindings = execution.bindings(run.ticket_id, run.workflow_id) if of_page else []
            earlier = [each for each in execution.runs(run.ticket_id) if each.id != run.id]
            suspended = execution.suspension()
        except FlowXpertError as error:
            return refused(error)
        may = current_caller().may
        return render(
            "runs/page.html",
            run=run,
            ticket=ticket,
            bindings={each.step: each for each in bindings},
            unsaid=[each.step for each in bindings if is_weighty(each) and not each.approved_by],
            box=_box(tickets, run),
            earlier=earlier,
            suspended=suspended,
            may_run=may(Scope.RUN),
            may_approve=may(Scope.APPROVE),
        )

    return router


def _box(tickets: Tickets, run: RunDetail) -> str:
    """The one box that a run of a page as it is stands at; empty of every other run."""
    is_of_page = bool(run.workflow_id) and tickets.workflow(run.workflow_id).workflow.is_checklist
    return run.steps[0].id if is_of_page else ""


def _starts(execution: Execution) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/runs")
    @form()
    @needs(Need.RUN)
    def start_run(
        ticket_id: Id,
        mode: Annotated[RunMode, Form()] = RunMode.DRY,
        workflow_id: Annotated[str, Form(max_length=200)] = "",
        confirms: Annotated[bool, Form()] = False,
        step: Annotated[str, Form(max_length=400)] = "",
    ) -> Response:
        """Start a run, or a look at one box of a page as it is, and show it."""
        wanted = StartRun(
            ticket_id=ticket_id,
            workflow_id=workflow_id,
            step=step,
            mode=mode,
            confirms_page=confirms,
        )
        return show("runs", execution.start(wanted).id)

    @router.post("/runs/suspension")
    @form()
    @needs(Need.RUN)
    def suspend_runs(why: _Words = "") -> Response:
        """Let all runs stand still."""
        execution.suspend(Suspend(why=why[:500]))
        return show("runs")

    @router.post("/runs/release")
    @form()
    @needs(Need.APPROVE)
    def release_runs() -> Response:
        """Let them go on."""
        execution.release()
        return show("runs")

    return router


def _acts(execution: Execution) -> APIRouter:
    router = APIRouter(include_in_schema=False, prefix="/runs/{run_id}")

    @router.post("/approval")
    @form()
    @needs(Need.APPROVE)
    def approve_change(run_id: Id, digest: _Digest) -> Response:
        """Let exactly this change be sent."""
        execution.approve(run_id, RunDecision(digest=digest))
        return show("runs", run_id)

    @router.post("/denial")
    @form()
    @needs(Need.RUN)
    def deny_change(run_id: Id, digest: _Digest, word: _Words = "") -> Response:
        """Refuse it for good."""
        execution.deny(run_id, RunDecision(digest=digest, word=word))
        return show("runs", run_id)

    @router.post("/answer")
    @form()
    @needs(Need.RUN)
    def answer_run(run_id: Id, told: Told) -> Response:
        """Answer what the run asks."""
        answer = RunAnswer(
            question=int(told.get("question", "0")),
            option=told.get("option", ""),
            arguments=arguments_of(told),
            word=told.get("word", ""),
        )
        execution.answer(run_id, answer)
        return show("runs", run_id)

    acts: dict[str, Callable[[str], RunDetail]] = {
        "pause": execution.pause,
        "resumption": execution.resume,
        "cancellation": execution.cancel,
        "taking-over": execution.take_over,
    }

    @router.post("/{act}")
    @form()
    @needs(Need.RUN)
    def act_on_run(run_id: Id, act: str) -> Response:
        """Pause it, let it go on, end it, or take it over."""
        if act in acts:
            acts[act](run_id)
        return show("runs", run_id)

    return router
