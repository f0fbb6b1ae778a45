"""Runs of tools that a person chose, one after the other, without a page."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from services.contracts.execution import ChosenCall, RunMode
from services.execution.bindings.binding import Argument, Binding, Origin
from services.execution.runs.revisions import definition_of, targets_of
from services.execution.runs.run import Limits, Run, RunTicket
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.tool import BadArgumentError, Tool, ToolEffect, with_referenced
from services.kit.access.caller import Caller
from services.kit.errors import InvalidInputError
from services.kit.ids import time_ordered_id
from services.workflow.model import Provenance, Step, StepKind, Transition, Workflow

TITLE = "By hand"
END = "Done by hand"


def build_manual_run(
    ticket: RunTicket,
    calls: Sequence[ChosenCall],
    catalogue: Catalogue,
    caller: Caller,
    *,
    limits: Limits,
    at: datetime,
) -> Run:
    """Build a run with a step for each call, and an end.

    Raises:
        UnknownToolError: The catalogue has no such tool or target.
        InvalidInputError: A tool is not for its target, or an argument may not be sent.
    """
    bindings = [_binding(f"c{n}", call, catalogue, caller) for n, call in enumerate(calls, 1)]
    tools = [catalogue.tool(call.tool) for call in calls]
    changes = {
        binding.step
        for binding, tool in zip(bindings, tools, strict=True)
        if tool.effect is ToolEffect.CHANGE
    }
    is_off = not catalogue.policy.changes.by_hand
    targets = {b.step: call.target for b, call in zip(bindings, calls, strict=True)}
    referenced = with_referenced(catalogue.by_name, [tool.name for tool in tools])
    named = targets_of(catalogue, referenced, targets.values())
    return Run(
        id=time_ordered_id(),
        ticket=ticket,
        workflow_id="",
        workflow=_workflow(bindings, tools),
        bindings=tuple(bindings),
        tools=referenced,
        targets=targets,
        target_sources=dict.fromkeys(targets, f"chosen by {caller.name}"),
        target_digests={each.name: each.digest for each in named},
        definitions={each.name: definition_of(each) for each in named},
        not_changing=dict.fromkeys(changes, "changes that no page tells are off") if is_off else {},
        mode=RunMode.SUPERVISED if changes else RunMode.READ_ONLY,
        limits=limits,
        requested_by=caller.name,
        requested_by_id=caller.lasting_id,
        requested_at=at,
        is_by_hand=True,
    )


def _binding(step: str, call: ChosenCall, catalogue: Catalogue, caller: Caller) -> Binding:
    tool, target = catalogue.tool(call.tool), catalogue.target(call.target)
    if why := catalogue.policy.reason_to_deny(tool, target):
        raise InvalidInputError(why)
    try:
        checked = tool.checked(call.arguments)
    except BadArgumentError as error:
        raise InvalidInputError(str(error)) from error
    return Binding(
        step=step,
        tool=tool.name,
        arguments={n: Argument(origin=Origin.LITERAL, value=v) for n, v in checked.items()},
        why=f"{caller.name} chose it",
    )


def _workflow(bindings: Sequence[Binding], tools: Sequence[Tool]) -> Workflow:
    steps = [
        Step(id=binding.step, kind=StepKind.PROCESS, text=tool.description)
        for binding, tool in zip(bindings, tools, strict=True)
    ]
    steps.append(Step(id="end", kind=StepKind.TERMINAL, text=END, implied=True))
    return Workflow(
        title=TITLE,
        steps=tuple(steps),
        transitions=tuple(Transition(source=a.id, target=b.id) for a, b in pairwise(steps)),
        provenance=Provenance(planner="human"),
    )
