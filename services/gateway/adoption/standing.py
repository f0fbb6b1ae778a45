"""What people did and said on a ticket, as one of its workflows shows it.

Marks are kept with the candidate that they were made on and are never moved: what a later walk's
workflow shows of them is found when it is read. So a mark that is sent for an earlier workflow
while another is being made, or after that, is found like any other.
"""

from collections.abc import Iterator, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import (
    Judgement,
    LeftBehind,
    LeftKind,
    StepState,
    StepWork,
    WhyLeft,
)
from services.gateway.adoption.lineage import Lineage, stored_workflow
from services.gateway.adoption.placing import Placing, Said, place, step_of
from services.gateway.adoption.told import StepTold, snapshot_by_step
from services.gateway.tables import AdoptionRow, LeftBehindRow, MarkRow, WorkflowRow, moment
from services.kit.ids import time_ordered_id
from services.workflow.model import Workflow

_NO_WALK = 1 << 30
"""Later than any."""


def placing_of(session: Session, line: Lineage, workflow: Workflow) -> Placing:
    """What was said of the workflow's line and on earlier walks, under its steps."""
    own = said_of(session, line.candidate_id)
    earlier = _earlier(session, line.ticket_id, line.walk, line.candidate_id)
    return place(own, earlier, workflow)


def left_behind(
    session: Session, line: Lineage, workflow: Workflow, placing: Placing
) -> tuple[LeftBehind, ...]:
    """All that people did and said that is no mark of one of its steps, the latest first."""
    of_ticket = _listed(session, line.ticket_id, line.walk, workflow)
    return _latest_first((*placing.left, *of_ticket))


def left_without(session: Session, ticket_id: str) -> tuple[LeftBehind, ...]:
    """All that people did and said on a ticket that shows no workflow, the latest first."""
    earlier = (said for said in _earlier(session, ticket_id, _NO_WALK) if not said.work.is_blank)
    gone = (said.left(WhyLeft.GONE) for said in earlier)
    return _latest_first((*gone, *_listed(session, ticket_id, _NO_WALK)))


def keep_said(session: Session, ticket_id: str, said: Said, reason: WhyLeft) -> None:
    """Keep, in the caller's transaction, what something else is about to take the place of."""
    keep(session, ticket_id, said.left(reason), said.told)


def keep(session: Session, ticket_id: str, left: LeftBehind, told: StepTold) -> None:
    """The same, as it is listed."""
    session.add(
        LeftBehindRow(
            id=time_ordered_id(),
            ticket_id=ticket_id,
            told=told.model_dump(mode="json"),
            body=left.model_dump_json(),
        )
    )


def said_of(session: Session, candidate_id: str) -> list[Said]:
    """What was said of the steps of a candidate and its versions, by the ids of the steps."""
    rows = select(MarkRow).where(MarkRow.candidate_id == candidate_id).order_by(MarkRow.step_id)
    return [said_in(session, row) for row in session.scalars(rows)]


def said_in(session: Session, row: MarkRow) -> Said:
    """What was said of one, with what it said then."""
    told = StepTold.model_validate(row.told) if row.told is not None else None
    if told is None or not told.model_fields_set.issuperset({"lines"}):
        told = _with_cited_lines(session, row, told)
    return Said(step_work(row), told, row.candidate_id)


def _with_cited_lines(session: Session, row: MarkRow, told: StepTold | None) -> StepTold:
    """Return the same where it, or the lines that the step cites, were not kept at the time."""
    step = stored_workflow(session, row.candidate_id).by_id.get(row.step_id)
    then = StepTold.of(step) if step else StepTold(text="")
    return then if told is None or told.says_same(then) else told


def step_work(row: MarkRow) -> StepWork:
    """What was said of one."""
    return StepWork(
        step=row.step_id,
        state=StepState(row.state),
        why=row.why,
        seen=row.seen,
        seen_by=(row.seen_by or row.marked_by) if row.seen else "",
        branch=row.branch,
        marked_by=row.marked_by,
        marked_at=moment(row.marked_at),
        verdict=Judgement(row.verdict),
        word=row.word,
        judged_by=row.judged_by,
        judged_at=moment(row.judged_at),
        carried_from=row.from_candidate or "",
    )


def _earlier(session: Session, ticket_id: str, walk: int, candidate_id: str = "") -> list[Said]:
    """What was said on the walks before, but for what a later mark goes on with."""
    statement = (
        select(MarkRow, WorkflowRow.walk)
        .join(WorkflowRow, WorkflowRow.id == MarkRow.candidate_id)
        .where(WorkflowRow.ticket_id == ticket_id)
        .where((WorkflowRow.walk < walk) | (WorkflowRow.id == candidate_id))
    )
    rows = session.execute(statement).tuples().all()
    gone_on = {(row.from_candidate, row.from_step): row.from_at or 0.0 for row, _ in rows}
    said = (said_in(session, row) for row, of in rows if of < walk)
    return [each for each in said if gone_on.get((each.candidate_id, each.work.step), -1) < each.at]


def _listed(
    session: Session, ticket_id: str, walk: int, workflow: Workflow | None = None
) -> Iterator[LeftBehind]:
    """What was replaced, verdicts on workflows of earlier walks, and versions of these."""
    steps = snapshot_by_step(workflow) if workflow is not None else {}
    kept = select(LeftBehindRow).where(LeftBehindRow.ticket_id == ticket_id)
    for row in session.scalars(kept):
        left = LeftBehind.model_validate_json(row.body)
        told = StepTold.model_validate(row.told)
        now = step_of(told, workflow, steps) if workflow is not None else ""
        yield left.model_copy(update={"step": now})
    before = (WorkflowRow.ticket_id == ticket_id, WorkflowRow.walk < walk)
    versions = select(WorkflowRow).where(*before, WorkflowRow.author != "")
    for made in session.scalars(versions):
        by = StepWork(step="", marked_by=made.author, marked_at=moment(made.created_at))
        yield _of_workflow(LeftKind.VERSION, made, by)
    judged = (
        select(AdoptionRow, WorkflowRow)
        .join(WorkflowRow, WorkflowRow.id == AdoptionRow.candidate_id)
        .where(*before, AdoptionRow.verdict != "")
    )
    for verdict, of in session.execute(judged).tuples():
        yield _of_workflow(LeftKind.WORKFLOW, of, verdict_of(verdict))


def verdict_of(row: AdoptionRow) -> StepWork:
    """What was said of a workflow as a whole."""
    return StepWork(
        step="",
        verdict=Judgement(row.verdict),
        word=row.word,
        judged_by=row.judged_by,
        judged_at=moment(row.judged_at),
    )


def _of_workflow(kind: LeftKind, row: WorkflowRow, said: StepWork) -> LeftBehind:
    return LeftBehind(kind=kind, reason=WhyLeft.GONE, workflow_id=row.id, text=row.title, said=said)


def _latest_first(left: Sequence[LeftBehind]) -> tuple[LeftBehind, ...]:
    def at(each: LeftBehind) -> float:
        times = (each.said.marked_at, each.said.judged_at)
        return max((time.timestamp() for time in times if time), default=0.0)

    return tuple(sorted(left, key=at, reverse=True))
