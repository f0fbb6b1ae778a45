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
from services.gateway.adoption.lineage import Lineage, lineage_of, stored_workflow
from services.gateway.adoption.standing import placing_of
from services.gateway.tables import AdoptionRow, TicketRow
from services.gateway.ticket.lifecycle import touch
from services.workflow.model import Workflow
from services.workflow.path import Done, core_steps


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
    placing = placing_of(session, line, candidate)
    own = {said.work.step: said.work for said in placing.own}
    row.core, row.used = used_steps(
        candidate,
        shown,
        # A step that was reworded and done was used: the candidate brought it up.
        tuple(({step: said.work for step, said in placing.under.items()} | own).values()),
        is_accepted=row.verdict == Judgement.ACCEPTED,
    )
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
