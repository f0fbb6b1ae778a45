"""`record_feedback`: what an engineer says of a ticket's workflow."""

from starlette.concurrency import run_in_threadpool

from services.contracts.mcp import RecordedFeedback, RecordFeedback
from services.contracts.triage import Rejection
from services.gateway.mcp.tool import Platform, Tool
from services.kit.access.scopes import Scope
from services.llm.prompts import quoted


async def _record(platform: Platform, said: RecordFeedback) -> RecordedFeedback:
    rejection = Rejection(reason=said.reason)
    decision = await run_in_threadpool(platform.triage.reject, said.ticket_id, rejection)
    return RecordedFeedback(
        ticket_id=said.ticket_id,
        verdict=said.verdict,
        team=decision.team,
        told=decision.note.asked,
    )


def _write(recorded: RecordedFeedback) -> str:
    to = f"handed over to the team {recorded.team!r}" if recorded.team else "a person must choose"
    head = f"Recorded: {recorded.verdict}; {to}."
    return "\n\n".join([head, recorded.notice, quoted("told", recorded.told)])


FEEDBACK = Tool(
    name="record_feedback",
    title="Say whether a workflow helped",
    description="Records what the engineer says of a ticket's workflow. Call it only with what a "
    "person has said.",
    scope=Scope.OPERATE,
    arguments=RecordFeedback,
    answer=RecordedFeedback,
    run=_record,
    write=_write,
)
