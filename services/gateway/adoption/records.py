"""What was done with the steps of a candidate, as it is kept, and how much of it was used.

Two shares tell how a workflow was used. Of what engineers did (steps that they ticked, reworded, or
added by hand) the share that it had: the paper's recall. And of the actions on the path that they
took the share that they did. A word without a tick counts in neither, nor does a step whose
condition does not hold, or a box of a checklist that merely stays open.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, StepState, StepWork
from services.gateway.adoption.lineage import Lineage, lineage_of, stored_workflow
from services.gateway.adoption.standing import placing_of
from services.gateway.tables import AdoptionRow, TicketRow
from services.gateway.ticket.lifecycle import touch
from services.procedure.checklist.places import closed_boxes
from services.workflow.model import StepKind, Workflow
from services.workflow.path import Done, core_steps


def done_of(workflow: Workflow, steps: Sequence[StepWork]) -> Done:
    """Return the same as the path through the workflow needs it."""

    def marked(state: StepState) -> list[str]:
        return [each.step for each in steps if each.state is state]

    return Done(
        done=marked(StepState.DONE),
        skipped=marked(StepState.SKIPPED),
        followed={each.step: each.branch for each in steps if each.branch is not None},
        not_applicable=marked(StepState.NOT_APPLICABLE),
        closed=closed_boxes(workflow),
    )


@dataclass(frozen=True)
class Used:
    """Numbers of actions."""

    core: int
    """On the path that was taken; of a checklist those that were done or skipped."""
    used: int
    """Of them, those that were done."""
    did: int
    """All that was done: ticked, reworded, or added by hand."""
    had: int
    """Of that, what the candidate had."""


def used_steps(candidate: Workflow, shown: Workflow, steps: Sequence[StepWork]) -> Used:
    """How much of the candidate was done, and of what was done how much it had.

    `shown` is the latest version. A step that was reworded counts as the candidate's, which brought
    it up; one that was skipped or rejected was not done.
    """
    core = core_steps(candidate, done_of(candidate, steps))
    by_step = {each.step: each for each in steps}
    refused = {
        each.step
        for each in steps
        if each.verdict is Judgement.REJECTED or each.state is StepState.SKIPPED
    }
    ticked = {step for step, each in by_step.items() if each.state is StepState.DONE} - refused
    actions = {step.id for step in candidate.of_kind(StepKind.PROCESS)}
    reworded = {
        step.id
        for step in shown.steps
        if (before := candidate.by_id.get(step.id))
        and (before.text, before.commands) != (step.text, step.commands)
    }
    had = ((ticked | reworded) & actions) - refused
    added = {step.id for step in shown.of_kind(StepKind.PROCESS)} - candidate.by_id.keys() - refused
    return Used(len(core), len(core & ticked), len(had) + len(added), len(had))


def recount(session: Session, line: Lineage) -> AdoptionRow:
    """Bring the candidate's numbers up to date, now that something was done with it."""
    session.flush()
    now = time.time()
    row = session.get(AdoptionRow, line.candidate_id)
    if row is None:
        row = AdoptionRow(candidate_id=line.candidate_id, worked_at=now)
        session.add(row)
    candidate = stored_workflow(session, line.candidate_id)
    is_edited = line.latest_id != line.candidate_id
    shown = stored_workflow(session, line.latest_id) if is_edited else candidate
    placing = placing_of(session, line, candidate)
    own = {said.work.step: said.work for said in placing.own}
    # A step that was reworded and done was used: the candidate brought it up.
    done = {step: said.work for step, said in placing.under.items()} | own
    found = used_steps(candidate, shown, tuple(done.values()))
    row.core, row.used, row.did, row.had = found.core, found.used, found.did, found.had
    row.documents = list(candidate.provenance.document_ids) if candidate.provenance else []
    row.worked_at = now
    touch(session, line.ticket_id, now)
    return row


def recount_shown(session: Session, line: Lineage) -> None:
    """Bring the numbers of this line up to date, and of what the ticket shows by now instead."""
    recount(session, line)
    shown_id = session.scalar(select(TicketRow.workflow_id).where(TicketRow.id == line.ticket_id))
    if shown_id is not None:
        shown = lineage_of(session, shown_id)
        if shown.walk > line.walk:
            recount(session, shown)


def count_carried(session: Session, workflow_id: str) -> None:
    """Count what a new workflow takes over of the work on earlier ones, if there is any."""
    line = lineage_of(session, workflow_id)
    if placing_of(session, line, stored_workflow(session, workflow_id)).under:
        recount(session, line)
