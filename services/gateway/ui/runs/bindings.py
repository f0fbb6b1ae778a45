"""How a step is carried out: approved as it is proposed, or said otherwise in a form."""

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
from services.gateway.ports import Tickets
from services.gateway.ticket.addresses import Id
from services.gateway.ui.forms import form, show
from services.gateway.ui.runs.told import Told
from services.gateway.ui.templates import refused, render
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError, NotFoundError

OTHERWISE = "otherwise"
"""Chosen in place of a field: the answer holds where no other one does."""


def create_binding_pages(tickets: Tickets, execution: Execution) -> APIRouter:
    """The page of one step's binding and its form, and the word for all changes at once."""
    router = APIRouter(include_in_schema=False, prefix="/runs/{run_id}/bindings")

    @router.post("")
    @form()
    @needs(Need.APPROVE)
    def approve_bindings_of_changes(run_id: Id) -> Response:
        """Vouch for how all changes are carried out, as the page shows it."""
        run = execution.run(run_id)
        changes = {each.id for each in run.steps if each.changes}
        for each in execution.bindings(run.ticket_id, run.workflow_id):
            if each.step in changes and not each.approved_by:
                _approve(execution, run, each.step, each.binding)
        return show("runs", run_id)

    @router.get("/{step}")
    @needs(Need.READ)
    def binding_page(run_id: Id, step: Id, tool: str = "") -> HTMLResponse:
        """What carries the step out; `tool` shows what another one would need."""
        try:
            run = execution.run(run_id)
            ticket = tickets.ticket(run.ticket_id)
            bound = _bound(execution, run.ticket_id, run.workflow_id, step)
            tools = execution.tools()
        except FlowXpertError as error:
            return refused(error)
        chosen = _tool(tools, tool or str(bound.binding["tool"]))
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
                for found in filter(None, [_tool(tools, name)])
                for field in found.fields
            ],
        )

    @router.post("/{step}")
    @form()
    @needs(Need.APPROVE)
    def approve_binding(run_id: Id, step: Id, told: Told) -> Response:
        """Vouch for the binding as it is proposed, or as the form says."""
        run = execution.run(run_id)
        if "tool" in told:
            conditions = _conditions(tickets, run.workflow_id, step)
            binding = _binding_of(told, conditions)
        else:
            binding = _bound(execution, run.ticket_id, run.workflow_id, step).binding
        _approve(execution, run, step, binding)
        return show("runs", run_id, at=f"#step-{step}")

    return router


def _approve(execution: Execution, run: RunDetail, step: str, binding: dict[str, Any]) -> None:
    approval = BindingApproval(
        ticket_id=run.ticket_id, workflow_id=run.workflow_id, step=step, binding=binding
    )
    execution.approve_binding(approval)


def _binding_of(told: Mapping[str, str], conditions: list[str]) -> dict[str, Any]:
    """A binding as a form says it: `origin.NAME` and `value.NAME`; `field.N`, `is.N`, `than.N`."""
    names = [name.removeprefix("origin.") for name in told if name.startswith("origin.")]
    arguments = {}
    for name in names:
        origin, _, chosen = told[f"origin.{name}"].partition(":")
        value = chosen or told.get(f"value.{name}", "")
        arguments[name] = {"origin": origin, "value": value}
    answers = []
    for number, condition in enumerate(conditions):
        field = told.get(f"field.{number}", "")
        if not field:
            continue
        test = {
            "field": field,
            "comparison": told.get(f"is.{number}", "is"),
            "value": told.get(f"than.{number}", ""),
        }
        tests = [] if field == OTHERWISE else [test]
        answers.append({"condition": condition, "tests": tests})
    return {
        "tool": told["tool"],
        "arguments": arguments,
        "answers": answers,
        "why": "as a person said it",
    }


def _bound(execution: Execution, ticket_id: str, workflow_id: str, step: str) -> StepBinding:
    for each in execution.bindings(ticket_id, workflow_id):
        if each.step == step:
            return each
    raise NotFoundError(f"the workflow has no step {step!r} that could be carried out")


def _tool(tools: list[ToolSummary], name: str) -> ToolSummary | None:
    return next((tool for tool in tools if tool.name == name), None)


def _conditions(tickets: Tickets, workflow_id: str, step: str) -> list[str]:
    exits = tickets.workflow(workflow_id).workflow.exits(step)
    return [edge.condition for edge in exits] if len(exits) > 1 else []
