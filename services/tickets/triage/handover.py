"""Hand-over note that goes with a ticket to its team: what was asked, found and tried."""

from collections.abc import Sequence

from services.contracts.adoption import StepState, StepWork, Work
from services.contracts.gateway import (
    NearestDocument,
    StoredWorkflow,
    TicketDetail,
)
from services.contracts.triage import HandOver
from services.kit.text import ellipsize, squeeze
from services.tickets.formats import lines_url
from services.workflow.model import Step, Workflow
from services.workflow.path import is_box

_SHOWN = 5


def note_without_workflow(
    summary: str, nearest: Sequence[NearestDocument], reason: str
) -> HandOver:
    """Write the note of a ticket for which no workflow was found."""
    cited, addresses = [], []
    for near in nearest[:_SHOWN]:
        heading = " › ".join(near.heading_path)
        lines = f"{near.document_id}, lines {near.start_line}–{near.end_line}"
        cited.append(f"{heading} ({lines})" if heading else lines)
        addresses.append(lines_url(near.document_id, near.start_line, near.end_line))
    return HandOver(
        asked=summary,
        found=tuple(cited),
        addresses=tuple(addresses),
        tried=(f"Looked for a procedure: {reason}.",),
    )


def note_of_followed(
    summary: str,
    ticket: TicketDetail,
    stored: StoredWorkflow,
    *,
    step: Step | None = None,
    work: Work | None = None,
) -> HandOver:
    """Write the note of a ticket whose workflow was followed to its hand-over.

    `step` is the step that says to hand over, if one does; `work` is what was done so far.
    """
    title = stored.workflow.title
    cited = "".join(
        f" ({each.document_id}, lines {each.start_line}–{each.end_line})"
        for each in (step.citations[:1] if step else ())
    )
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


def note_of_rejected(summary: str, ticket: TicketDetail, reason: str) -> HandOver:
    """Write the note of a ticket whose workflow an engineer rejects."""
    candidates = ticket.candidates[:_SHOWN]
    why = f": {reason}" if reason else "."
    shown = [each for each in ticket.candidates if each.id == ticket.workflow_id]
    tried = [f"The workflow \u201c{each.title}\u201d was rejected{why}" for each in shown]
    return HandOver(
        asked=summary,
        found=tuple(
            f"{each.title} ({each.steps} steps, {each.verdict_words})" for each in candidates
        ),
        addresses=tuple(f"/tickets/{ticket.id}?candidate={each.id}" for each in candidates),
        tried=tuple(tried),
    )


MOST_STEPS = 30
MOST_CHARACTERS = 300
"""Characters of a step's words, and of the words that somebody wrote at it."""

_LEADS = {
    StepState.OPEN: "Noted at",
    StepState.DONE: "Done:",
    StepState.SKIPPED: "Skipped:",
    StepState.NOT_APPLICABLE: "Did not apply:",
}


def work_done(workflow: Workflow, work: Work, *, without: Step | None = None) -> tuple[str, ...]:
    """Return what was done and noted, in the workflow's order; of the step `without` only a note.

    If there is too much, steps with words go before mere ticks.
    """
    marks = work.by_step
    steps = [
        (step, mark)
        for step in workflow.steps
        if (mark := marks.get(step.id))
        and is_box(step)
        # Not one inside a step that does not apply.
        and not mark.with_step
        and (mark.state is not StepState.OPEN or mark.seen)
    ]
    if without is not None:
        steps = [each for each in steps if each[0].id != without.id or each[1].seen]
    written_first = sorted(range(len(steps)), key=lambda at: not _words(steps[at][1]))
    kept = sorted(written_first[:MOST_STEPS])
    rest = len(steps) - len(kept)
    more = [f"{rest} more {'step' if rest == 1 else 'steps'} of it"] if rest else []
    lines = []
    for step, mark in (steps[at] for at in kept):
        words = _words(mark)
        lines.append(f"{_LEADS[mark.state]} “{short(step.text)}”{f': {words}' if words else ''}")
    return (*lines, *more)


def short(text: str) -> str:
    """Return the beginning of a text on one line."""
    return ellipsize(squeeze(text), MOST_CHARACTERS)


def _words(mark: StepWork) -> str:
    """Return the words at a step: the branch followed, the reason for skipping, the note."""
    return "; ".join(short(each) for each in (mark.branch, mark.why, mark.seen) if each)
