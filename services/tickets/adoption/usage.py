"""Usage of a candidate: how much of it was done, counted and stored.

Two shares say how a workflow was used: the share that it had of what engineers did (steps that they
ticked, reworded, or added by hand), which is the paper's recall, and the share that they did of the
actions on their path. A word without a tick counts in neither, nor does a step whose condition does
not hold, or a box of a checklist that merely stays open.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, StepState, StepWork
from services.kit.teaching.ledger import record_teaching, ticket_subject
from services.runbook.checklist.places import closed_boxes
from services.tickets.adoption.step_feedback import (
    Lineage,
    lineage_of,
    placement_of,
    stored_workflow,
)
from services.tickets.tables import AdoptionRow, TicketRow
from services.tickets.ticket.lifecycle import touch
from services.workflow.model import StepKind, Workflow
from services.workflow.path import MarkedSteps, core_steps


def done_of(workflow: Workflow, steps: Sequence[StepWork]) -> MarkedSteps:
    """Convert marks into the form that the path through the workflow takes."""

    def marked(state: StepState) -> list[str]:
        return [each.step for each in steps if each.state is state]

    return MarkedSteps(
        done=marked(StepState.DONE),
        skipped=marked(StepState.SKIPPED),
        followed={each.step: each.branch for each in steps if each.branch is not None},
        not_applicable=marked(StepState.NOT_APPLICABLE),
        closed=closed_boxes(workflow),
    )


@dataclass(frozen=True)
class UsageCount:
    """Counts of actions of a candidate."""

    core: int
    """Actions on the path taken; on a checklist, boxes done or skipped."""
    used: int
    """Core actions that were done."""
    did: int
    """All actions done: ticked, reworded, or added by hand."""
    had: int
    """Actions done that the candidate had."""


def count_usage(candidate: Workflow, shown: Workflow, steps: Sequence[StepWork]) -> UsageCount:
    """Count how much of the candidate was done, and how much of what was done it had.

    `shown` is the latest version. A reworded step counts as the candidate's, which brought it up; a
    skipped or rejected one was not done.
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
    return UsageCount(len(core), len(core & ticked), len(had) + len(added), len(had))


def recount(session: Session, line: Lineage) -> AdoptionRow:
    """Bring the candidate's numbers up to date, after work on it."""
    session.flush()
    record_teaching(session, ticket_subject(line.ticket_id))
    now = time.time()
    row = session.get(AdoptionRow, line.candidate_id)
    if row is None:
        row = AdoptionRow(candidate_id=line.candidate_id, worked_at=now)
        session.add(row)
    candidate = stored_workflow(session, line.candidate_id)
    is_edited = line.latest_id != line.candidate_id
    shown = stored_workflow(session, line.latest_id) if is_edited else candidate
    placement = placement_of(session, line, candidate)
    own_work = {feedback.work.step: feedback.work for feedback in placement.own}
    # A step that was reworded and done was used: the candidate brought it up.
    done = {step: feedback.work for step, feedback in placement.by_step.items()} | own_work
    usage = count_usage(candidate, shown, tuple(done.values()))
    row.core, row.used, row.did, row.had = usage.core, usage.used, usage.did, usage.had
    row.documents = list(candidate.provenance.document_ids) if candidate.provenance else []
    row.worked_at = now
    touch(session, line.ticket_id, now)
    return row


def recount_shown(session: Session, line: Lineage) -> None:
    """Recount this lineage, and the workflow of a later walk that the ticket shows instead."""
    recount(session, line)
    shown_id = session.scalar(select(TicketRow.workflow_id).where(TicketRow.id == line.ticket_id))
    if shown_id is not None:
        shown = lineage_of(session, shown_id)
        if shown.walk > line.walk:
            recount(session, shown)


def count_carried(session: Session, workflow_id: str) -> None:
    """Count the work that a new workflow takes over from earlier ones, if any."""
    line = lineage_of(session, workflow_id)
    if placement_of(session, line, stored_workflow(session, workflow_id)).by_step:
        recount(session, line)
