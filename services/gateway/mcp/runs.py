"""`get_runs`: how workflows of a ticket were carried out; nothing is started or approved here."""

from starlette.concurrency import run_in_threadpool

from services.contracts.execution import Execution, RunSummary
from services.contracts.mcp import GetRuns, TicketRun, TicketRuns
from services.gateway.mcp.tool import Platform, Tool
from services.kit.access.scopes import Scope
from services.kit.errors import UnavailableError
from services.llm.prompts import quoted

MOST = 5
"""Runs in one answer, the latest."""


class NoExecutorError(UnavailableError):
    """This gateway was started without an executor."""


async def _get(platform: Platform, wanted: GetRuns) -> TicketRuns:
    return await run_in_threadpool(_standing, platform, wanted.ticket_id)


def _standing(platform: Platform, ticket_id: str) -> TicketRuns:
    execution = platform.execution
    if execution is None:
        raise NoExecutorError("this gateway knows no executor to ask")
    platform.gateway.ticket(ticket_id)
    found = execution.runs(ticket_id)[:MOST]
    return TicketRuns(ticket_id=ticket_id, runs=tuple(_run(execution, each) for each in found))


def _run(execution: Execution, summary: RunSummary) -> TicketRun:
    run = execution.run(summary.id)
    waits = run.approval.shown if run.approval else run.question.text if run.question else ""
    return TicketRun(
        id=run.id,
        mode=run.mode,
        phase=run.phase,
        outcome=run.outcome,
        why=run.why,
        waits_for=waits,
        report=run.report,
    )


def _write(found: TicketRuns) -> str:
    parts = []
    for run in found.runs:
        state = run.outcome.value if run.outcome else run.phase.value
        parts.append(f"Run {run.id}, {run.mode.value}: {state.replace('_', ' ')}")
        told = {"why": run.why, "waits for": run.waits_for, "report": run.report}
        parts += [quoted(name, text) for name, text in told.items() if text]
    return "\n\n".join(parts) or "The ticket has no runs."


RUNS = Tool(
    name="get_runs",
    title="How a workflow was carried out",
    description="How the workflow of a ticket was carried out: what was sent to devices, by whose "
    "leave, what was seen, and what waits for a person. Starts and approves nothing.",
    scope=Scope.READ,
    arguments=GetRuns,
    answer=TicketRuns,
    run=_get,
    write=_write,
)
