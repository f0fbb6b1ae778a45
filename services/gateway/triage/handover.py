"""The note that goes with a ticket to its team: what was asked, found and tried."""

from collections.abc import Sequence

from services.contracts.gateway import (
    CandidateSummary,
    NearestDocument,
    StoredWorkflow,
    TicketDetail,
)
from services.contracts.triage import HandOver
from services.gateway.formats import lines_url
from services.workflow.model import Step

_SHOWN = 5


def nothing_fits(summary: str, nearest: Sequence[NearestDocument], reason: str) -> HandOver:
    """Of a ticket that no workflow was found for."""
    return HandOver(
        asked=summary,
        found=tuple(_place(near) for near in nearest[:_SHOWN]),
        addresses=tuple(
            lines_url(near.document_id, near.start_line, near.end_line) for near in nearest[:_SHOWN]
        ),
        tried=(f"Looked for a procedure: {reason}.",),
    )


def followed(summary: str, ticket: TicketDetail, stored: StoredWorkflow, step: Step) -> HandOver:
    """Of a ticket whose page was followed to a step that says to hand over."""
    lines = [f"{c.document_id}, lines {c.start_line}–{c.end_line}" for c in step.citations[:1]]
    cited = f" ({lines[0]})" if lines else ""
    title = stored.workflow.title
    return HandOver(
        asked=summary,
        found=(f"{title}{cited}",),
        addresses=(f"/tickets/{ticket.id}?candidate={stored.id}",),
        tried=(f"Followed “{title}” to “{step.text}”{cited}",),
    )


def rejected(summary: str, ticket: TicketDetail, reason: str) -> HandOver:
    """Of a ticket whose workflow an engineer rejects."""
    candidates = ticket.candidates[:_SHOWN]
    why = f": {reason}" if reason else "."
    shown = [each for each in ticket.candidates if each.id == ticket.workflow_id]
    tried = [f"The workflow \u201c{each.title}\u201d was rejected{why}" for each in shown]
    return HandOver(
        asked=summary,
        found=tuple(map(_workflow, candidates)),
        addresses=tuple(f"/tickets/{ticket.id}?candidate={each.id}" for each in candidates),
        tried=tuple(tried),
    )


def _place(near: NearestDocument) -> str:
    heading = " › ".join(near.heading_path)
    lines = f"{near.document_id}, lines {near.start_line}–{near.end_line}"
    return f"{heading} ({lines})" if heading else lines


def _workflow(candidate: CandidateSummary) -> str:
    return f"{candidate.title} ({candidate.steps} steps, {candidate.verdict_words})"
