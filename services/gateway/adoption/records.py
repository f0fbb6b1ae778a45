"""What was done with the steps of a candidate, as it is kept, and how much of it was used.

A workflow is adopted step by step: it is accepted where at least `ACCEPTED_SHARE` of its core steps
were used. A core step is used when it was done, or stands in the version that was accepted as a
whole; one that was skipped or rejected is not.
"""

import time
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, StepState, StepWork
from services.gateway.adoption.lineage import Lineage, stored_workflow
from services.gateway.tables import AdoptionRow, MarkRow, moment
from services.gateway.ticket.lifecycle import touch
from services.workflow.model import Workflow
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


def used_steps(
    candidate: Workflow, shown: Workflow, steps: Sequence[StepWork], *, is_accepted: bool
) -> tuple[int, int]:
    """The number of core steps of the candidate, and of those that were used.

    `shown` is the latest version; the acceptance of the whole counts for what it keeps.
    """
    core = core_steps(candidate, done_of(steps))
    by_step = {each.step: each for each in steps}

    def is_used(step_id: str) -> bool:
        work = by_step.get(step_id, StepWork(step=step_id))
        if work.verdict is Judgement.REJECTED or work.state is StepState.SKIPPED:
            return False
        return work.state is StepState.DONE or (is_accepted and step_id in shown.by_id)

    return len(core), sum(map(is_used, core))


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
    row.core, row.used = used_steps(
        candidate,
        shown,
        steps_of(session, line.candidate_id),
        is_accepted=row.verdict == Judgement.ACCEPTED,
    )
    row.documents = list(candidate.provenance.document_ids) if candidate.provenance else []
    row.worked_at = now
    touch(session, line.ticket_id, now)
    return row
