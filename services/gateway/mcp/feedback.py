"""`record_feedback`: what an engineer says of a ticket's workflow, or of a step of it."""

from starlette.concurrency import run_in_threadpool

from services.contracts.adoption import Acceptance, Judgement, StepJudgement
from services.contracts.mcp import RecordedFeedback, RecordFeedback
from services.contracts.triage import Rejection
from services.gateway.mcp.tool import Platform, Tool
from services.kit.access.scopes import Scope
from services.kit.errors import InvalidInputError


class NoWorkflowError(InvalidInputError):
    """The ticket has no workflow that anything could be said of."""


async def _record(platform: Platform, said: RecordFeedback) -> RecordedFeedback:
    return await run_in_threadpool(_recorded, platform, said)


def _recorded(platform: Platform, said: RecordFeedback) -> RecordedFeedback:
    if said.step:
        judgement = StepJudgement(verdict=Judgement(said.verdict), word=said.reason)
        platform.adoption.judge(_workflow_id(platform, said), said.step, judgement)
    elif said.verdict == "accepted":
        platform.adoption.accept(_workflow_id(platform, said), Acceptance(word=said.reason))
    else:
        platform.triage.reject(said.ticket_id, Rejection(reason=said.reason))
    ticket = platform.gateway.ticket(said.ticket_id)
    return RecordedFeedback(
        ticket_id=said.ticket_id,
        verdict=said.verdict,
        step=said.step,
        status=ticket.status,
        team=ticket.triage.team if ticket.triage else None,
    )


def _workflow_id(platform: Platform, said: RecordFeedback) -> str:
    found = platform.gateway.ticket(said.ticket_id).workflow_id
    if found is None:
        raise NoWorkflowError("the ticket has no workflow that anything could be said of")
    return found


def _write(recorded: RecordedFeedback) -> str:
    what = "the step" if recorded.step else "the workflow"
    return f"Recorded: {what} is {recorded.verdict}. The ticket is {recorded.status}."


FEEDBACK = Tool(
    name="record_feedback",
    title="Say whether a workflow helped",
    description="Records what the engineer says of a ticket's workflow, or of one step. Call it "
    "only with what a person has said.",
    scope=Scope.OPERATE,
    arguments=RecordFeedback,
    answer=RecordedFeedback,
    run=_record,
    write=_write,
)
