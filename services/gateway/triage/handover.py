"""The note that goes with a ticket to its team: what was asked, found and tried."""

from collections.abc import Sequence

from services.contracts.adoption import Work
from services.contracts.gateway import (
    CandidateSummary,
    NearestDocument,
    StoredWorkflow,
    TicketDetail,
)
from services.contracts.triage import HandOver
from services.gateway.formats import lines_url
from services.gateway.triage.work_done import work_done
from services.workflow.model import Step, Workflow
from services.workflow.path import is_box

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


def followed(
    summary: str,
    ticket: TicketDetail,
    stored: StoredWorkflow,
    *,
    step: Step | None = None,
    work: Work | None = None,
) -> HandOver:
    """Of a ticket whose workflow was followed to its hand-over, which `step` may say.

    `work` is what was done of it so far.
    """
    title = stored.workflow.title
    cited = _cited(step) if step else ""
    done = work_done(stored.workflow, work, without=step) if work else ()
    stopped = f"Followed “{title}”{_stop(stored.workflow, step, work)}{cited}"
    return HandOver(
        asked=summary,
        found=(f"{title}{cited}",),
        addresses=(f"/tickets/{ticket.id}?candidate={stored.id}",),
        tried=(*done, stopped),
    )


def _stop(workflow: Workflow, step: Step | None, work: Work | None) -> str:
    """Return where the work stopped, as the end of its sentence."""
    if step is not None:
        return f" to “{step.text}”"
    next_ = workflow.by_id.get(work.next) if work and work.next else None
    if work is not None and next_ is not None and is_box(next_):
        return f", {work.done + work.skipped} of {work.total} boxes done"
    return " to its end"


def _cited(step: Step) -> str:
    lines = [f"{c.document_id}, lines {c.start_line}–{c.end_line}" for c in step.citations[:1]]
    return f" ({lines[0]})" if lines else ""


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
