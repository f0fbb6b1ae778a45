"""What was done with the steps of a candidate, as it is kept, and how much of it was used.

Two shares tell how a workflow was used. Of what engineers did (steps that they ticked, reworded, or
added by hand) the share that it had: the paper's recall. And of the actions on the path that they
took the share that they did. A word without a tick counts in neither.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, StepState, StepWork
from services.gateway.adoption.lineage import Lineage, stored_workflow
from services.gateway.tables import AdoptionRow, MarkRow, moment
from services.gateway.ticket.lifecycle import touch
from services.workflow.model import StepKind, Workflow
from services.workflow.path import Done, core_steps


def steps_of(session: Session, candidate_id: str) -> tuple[StepWork, ...]:
    """What was done with steps and said of them, by the ids of the steps."""
    rows = session.scalars(
        select(MarkRow).where(MarkRow.candidate_id == candidate_id).order_by(MarkRow.step_id)
    )
    return tuple(map(step_work, rows))


def step_work(row: MarkRow) -> StepWork:
    """One of them."""
    return StepWork(
        step=row.step_id,
        state=StepState(row.state),
        why=row.why,
        seen=row.seen,
        branch=row.branch,
        marked_by=row.marked_by,
        marked_at=moment(row.marked_at),
        verdict=Judgement(row.verdict),
        word=row.word,
        judged_by=row.judged_by,
        judged_at=moment(row.judged_at),
    )


def done_of(steps: Sequence[StepWork]) -> Done:
    """The same as the path through a workflow needs it."""
    return Done(
        done=[each.step for each in steps if each.state is StepState.DONE],
        skipped=[each.step for each in steps if each.state is StepState.SKIPPED],
        followed={each.step: each.branch for each in steps if each.branch is not None},
    )


@dataclass(frozen=True)
class Used:
    """Numbers of actions."""

    core: int
    """On the path that was taken."""
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
    core = core_steps(candidate, done_of(steps))
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
    found = used_steps(candidate, shown, steps_of(session, line.candidate_id))
    row.core, row.used, row.did, row.had = found.core, found.used, found.did, found.had
    row.documents = list(candidate.provenance.document_ids) if candidate.provenance else []
    row.worked_at = now
    touch(session, line.ticket_id, now)
    return row
