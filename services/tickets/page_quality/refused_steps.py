"""Steps of pages that people rejected, reworded or skipped while they worked on tickets."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, StepState
from services.contracts.coverage import FindingKind
from services.kit.batches import batches
from services.kit.teaching.ledger import load_teachers, ticket_subject
from services.kit.teaching.teacher import are_enough, are_heard
from services.tickets.page_quality.evidence import PageEvidence
from services.tickets.page_texts import PageTexts
from services.tickets.parameters import TicketValues
from services.tickets.tables import MarkRow, TicketRow, WorkflowRow
from services.workflow.model import Step, Workflow


class Refusal(StrEnum):
    """Way in which people refused a step."""

    REJECTED = "rejected"
    REWORDED = "reworded"
    SKIPPED = "skipped"


LEAST = {Refusal.REJECTED: 1, Refusal.REWORDED: 2, Refusal.SKIPPED: 3}
"""Fewest tickets that make a finding. Who rejects a step says that it is wrong; who rewords one may
have filled in a name, and who skips one may not have needed it that time. Of one person alone
only the rejection is told: what they did otherwise may be their habit.
"""
_WORD_CHARACTERS = 200


class _StepPlace(NamedTuple):
    document_id: str
    start_line: int
    end_line: int
    text: str


class _StepAction(NamedTuple):
    """Action of a person on a step; without a refusal they did it, or found it right."""

    at: float
    ticket_id: str
    place: _StepPlace
    refusal: Refusal | None
    word: str
    by: str
    """Name of the person."""


@dataclass
class _Refusals:
    tickets: dict[str, float] = field(default_factory=dict)
    """Time of the latest refusal, by ticket."""
    word: str = ""
    """Latest reason that somebody gave."""
    teachers: set[str] = field(default_factory=set)


def refused_steps(session: Session, since: float, pages: PageTexts) -> Iterator[PageEvidence]:
    """Yield evidence on steps refused since then, without values of their tickets.

    A step that was done or found right later is not refused any more.
    """
    seen: dict[tuple[_StepPlace, Refusal], _Refusals] = {}
    raw = sorted(_step_actions(session, since), key=lambda each: each.at)
    actions = list(_without_values(session, raw, pages))
    teachers = load_teachers(session, {ticket_subject(each.ticket_id) for each in actions})
    for action in actions:
        teacher = teachers.of(ticket_subject(action.ticket_id), action.by)
        if not teacher:
            continue
        if action.refusal is None:
            for each in Refusal:
                seen.pop((action.place, each), None)
            continue
        one = seen.setdefault((action.place, action.refusal), _Refusals())
        one.tickets.pop(action.ticket_id, None)
        one.tickets[action.ticket_id] = action.at
        one.word = action.word or one.word
        one.teachers.add(teacher)
    for (place, refusal), one in seen.items():
        are_those = are_heard if refusal is Refusal.REJECTED else are_enough
        if len(one.tickets) >= LEAST[refusal] and are_those(one.teachers):
            yield _evidence(place, refusal, one)


def _without_values(
    session: Session, actions: Iterable[_StepAction], pages: PageTexts
) -> Iterator[_StepAction]:
    """Yield the actions with parameters for their tickets' values, which others would read."""
    values: dict[tuple[str, str], TicketValues] = {}
    for action in actions:
        document_id = action.place.document_id
        key = action.ticket_id, document_id
        if key not in values:
            ticket = session.get_one(TicketRow, action.ticket_id)
            values[key] = TicketValues.of(ticket, pages.of([document_id]))
        parameterise = values[key].parameterise
        place = action.place._replace(text=parameterise(action.place.text))
        yield action._replace(place=place, word=parameterise(action.word))


def _evidence(place: _StepPlace, refusal: Refusal, one: _Refusals) -> PageEvidence:
    number = len(one.tickets)
    tickets = f"{number} tickets" if number > 1 else "one ticket"
    word = f": “{one.word[:_WORD_CHARACTERS]}”" if one.word else ""
    return PageEvidence(
        kind=FindingKind.STEP_REFUSED,
        document_id=place.document_id,
        start_line=place.start_line,
        end_line=place.end_line,
        text=place.text,
        seen=f"{refusal.value} on {tickets}{word}",
        refusal=refusal.value,
        times=number,
        since=datetime.fromtimestamp(min(one.tickets.values()), UTC),
        last_at=datetime.fromtimestamp(max(one.tickets.values()), UTC),
        tickets=tuple(reversed(one.tickets)),
    )


def _step_actions(session: Session, since: float) -> Iterator[_StepAction]:
    """Yield marks and verdicts on steps, and versions that word them otherwise."""
    marks = (MarkRow.marked_at >= since) | (MarkRow.judged_at >= since)
    rows = session.scalars(select(MarkRow).where(marks)).all()
    versions = session.scalars(
        select(WorkflowRow)
        .where(WorkflowRow.candidate_id.is_not(None), WorkflowRow.created_at >= since)
        .order_by(WorkflowRow.version)
    ).all()
    latest = {row.candidate_id: row for row in versions if row.candidate_id}
    ids = sorted({*(row.candidate_id for row in rows), *latest})
    candidates: dict[str, WorkflowRow] = {}
    for some in batches(ids):
        matches = session.scalars(select(WorkflowRow).where(WorkflowRow.id.in_(some)))
        candidates.update((row.id, row) for row in matches)
    workflows = {id_: Workflow.model_validate_json(row.body) for id_, row in candidates.items()}
    for row in rows:
        if row.candidate_id in workflows and row.from_candidate is None:
            step = workflows[row.candidate_id].by_id.get(row.step_id)
            yield from _of_mark(row, step, candidates[row.candidate_id].ticket_id)
    for id_, version in latest.items():
        if id_ in workflows:
            yield from _of_version(version, workflows[id_])


def _of_mark(row: MarkRow, step: Step | None, ticket_id: str) -> Iterator[_StepAction]:
    place = _place(step)
    if place is None:
        return
    if row.verdict and row.judged_at:
        is_rejected = row.verdict == Judgement.REJECTED
        refusal = Refusal.REJECTED if is_rejected else None
        yield _StepAction(row.judged_at, ticket_id, place, refusal, row.word, row.judged_by)
    if row.marked_at and row.state == StepState.SKIPPED:
        yield _StepAction(row.marked_at, ticket_id, place, Refusal.SKIPPED, row.why, row.marked_by)
    if row.marked_at and row.state == StepState.DONE and row.verdict != Judgement.REJECTED:
        yield _StepAction(row.marked_at, ticket_id, place, None, "", row.marked_by)


def _of_version(row: WorkflowRow, candidate: Workflow) -> Iterator[_StepAction]:
    now = Workflow.model_validate_json(row.body).by_id
    for step in candidate.steps:
        place, other = _place(step), now.get(step.id)
        if place is not None and other is not None and _one_line(other) != _one_line(step):
            yield _StepAction(
                row.created_at,
                row.ticket_id,
                place,
                Refusal.REWORDED,
                _one_line(other),
                row.author,
            )


def _place(step: Step | None) -> _StepPlace | None:
    if step is None or not step.citations:
        return None
    document_id = step.citations[0].document_id
    cited = [each for each in step.citations if each.document_id == document_id]
    start, end = min(each.start_line for each in cited), max(each.end_line for each in cited)
    return _StepPlace(document_id, start, end, _one_line(step))


def _one_line(step: Step) -> str:
    """Return the step in one line, with its commands."""
    return ": ".join(filter(None, (step.text, "; ".join(step.commands))))
