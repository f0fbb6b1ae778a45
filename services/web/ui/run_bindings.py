"""Bindings of steps to tools: approved as proposed, or changed in a form."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from services.contracts.execution import (
    BindingApproval,
    Execution,
    RunDetail,
    StepBinding,
    ToolSummary,
)
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError, NotFoundError
from services.tickets.service import TicketService
from services.tickets.ticket.addresses import Id
from services.web.ui.forms import FormFields, form_route, redirect_to
from services.web.ui.templates import render, render_refusal

OTHERWISE = "otherwise"
"""Chosen in place of a field: the answer that holds if no other one does."""


def create_binding_pages(tickets: TicketService, execution: Execution) -> APIRouter:
    """Build the router of a step's binding, its form, and the approval of all at once."""
    router = APIRouter(include_in_schema=False, prefix="/runs/{run_id}/bindings")

    @router.post("")
    @form_route()
    @needs(Need.APPROVE)
    def approve_proposed_bindings(run_id: Id) -> Response:
        """Approve all changes and answers as the page shows them."""
        run = execution.run(run_id)
        for each in execution.bindings(run.ticket_id, run.workflow_id):
            if needs_approval(each) and not each.approved_by:
                _approve(execution, run, each.step, each.binding)
        return redirect_to("runs", run_id)

    @router.get("/{step}")
    @needs(Need.READ)
    def binding_page(run_id: Id, step: Id, tool: str = "") -> HTMLResponse:
        """Show the binding of a step; `tool` shows what another tool would need."""
        try:
            run = execution.run(run_id)
            ticket = tickets.queries.ticket(run.ticket_id)
            bound = _find_binding(execution, run.ticket_id, run.workflow_id, step)
            tools = execution.tools()
        except FlowXpertError as error:
            return render_refusal(error)
        chosen = _find_tool(tools, tool or str(bound.binding["tool"]))
        of_step = next(each for each in run.steps if each.id == step)
        before = [each.tool for each in run.steps if each.number < of_step.number and each.tool]
        return render(
            "runs/binding.html",
            run=run,
            ticket=ticket,
            bound=bound,
            of_step=of_step,
            conditions=_conditions(tickets, run.workflow_id, step),
            tools=[t for t in tools if not (of_step.kind == "decision" and t.changes)],
            chosen=chosen,
            is_same=chosen is not None and chosen.name == bound.binding["tool"],
            fields_before=[
                f"{name}.{field.name}"
                for name in dict.fromkeys(before)
                for earlier_tool in filter(None, [_find_tool(tools, name)])
                for field in earlier_tool.fields
            ],
        )

    @router.post("/{step}/withdrawal")
    @form_route()
    @needs(Need.APPROVE)
    def withdraw_binding(run_id: Id, step: Id) -> Response:
        """Withdraw the approval of the binding."""
        run = execution.run(run_id)
        execution.withdraw_binding(
            _find_binding(execution, run.ticket_id, run.workflow_id, step).key
        )
        return redirect_to("runs", run_id, at=f"#step-{step}")

    @router.post("/{step}")
    @form_route()
    @needs(Need.APPROVE)
    def approve_binding(run_id: Id, step: Id, fields: FormFields) -> Response:
        """Approve the binding as it is proposed, or as the form changes it."""
        run = execution.run(run_id)
        if "tool" in fields:
            conditions = _conditions(tickets, run.workflow_id, step)
            binding = _parse_binding(fields, conditions)
        else:
            binding = _find_binding(execution, run.ticket_id, run.workflow_id, step).binding
        _approve(execution, run, step, binding)
        return redirect_to("runs", run_id, at=f"#step-{step}")

    return router


def needs_approval(bound: StepBinding) -> bool:
    """Return True if a person has to approve it: it changes something, or leads to a change."""
    return bound.changes or bool(bound.binding["answers"])


def _approve(execution: Execution, run: RunDetail, step: str, binding: dict[str, Any]) -> None:
    approval = BindingApproval(
        ticket_id=run.ticket_id, workflow_id=run.workflow_id, step=step, binding=binding
    )
    execution.approve_binding(approval)


def _parse_binding(fields: Mapping[str, str], conditions: list[str]) -> dict[str, Any]:
    """Return the binding that a form describes.

    Its fields are `origin.NAME` and `value.NAME`; `field.N`, `is.N` and `than.N`.
    """
    names = [name.removeprefix("origin.") for name in fields if name.startswith("origin.")]
    arguments = {}
    for name in names:
        origin, _, chosen = fields[f"origin.{name}"].partition(":")
        value = chosen or fields.get(f"value.{name}", "")
        arguments[name] = {"origin": origin, "value": value}
    answers = []
    for number, condition in enumerate(conditions):
        field = fields.get(f"field.{number}", "")
        if not field:
            continue
        test = {
            "field": field,
            "comparison": fields.get(f"is.{number}", "is"),
            "value": fields.get(f"than.{number}", ""),
        }
        tests = [] if field == OTHERWISE else [test]
        answers.append({"condition": condition, "tests": tests})
    return {
        "tool": fields["tool"],
        "arguments": arguments,
        "answers": answers,
        "why": "as a person said it",
    }


def _find_binding(execution: Execution, ticket_id: str, workflow_id: str, step: str) -> StepBinding:
    for each in execution.bindings(ticket_id, workflow_id):
        if each.step == step:
            return each
    raise NotFoundError(f"the workflow has no step {step!r} that could be carried out")


def _find_tool(tools: list[ToolSummary], name: str) -> ToolSummary | None:
    return next((tool for tool in tools if tool.name == name), None)


def _conditions(tickets: TicketService, workflow_id: str, step: str) -> list[str]:
    exits = tickets.queries.workflow(workflow_id).workflow.exits(step)
    return [edge.condition for edge in exits] if len(exits) > 1 else []
