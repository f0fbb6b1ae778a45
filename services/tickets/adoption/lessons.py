"""Lessons of ended tickets: which page was the right one, and how its workflow was taken.

Numbers and ids, no text, so that they outlive the words of a ticket that is purged. The right page
is inferred from what people did: it is the page of the workflow that they worked with until the
fault was over, or accepted. A page is wrong for a ticket if its workflow was rejected and nothing
of it was done.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Row, select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, Taken
from services.contracts.retrieval import PageSigns
from services.contracts.scorer import DIMENSIONS
from services.kit.access.caller import LOCAL_TEACHER
from services.kit.sql.database import Database
from services.kit.teaching.ledger import Teachers, load_teachers, ticket_subject
from services.tickets.adoption.acceptance import classify_outcome
from services.tickets.tables import (
    AdoptionRow,
    LessonRow,
    MarkRow,
    ScoreRow,
    ServedRow,
    TicketRow,
    WorkflowRow,
)
from services.workflow.model import Provenance, Workflow


@dataclass(frozen=True)
class ScoredWorkflow:
    """The workflow that a ticket ended with, as it was served."""

    values: Mapping[str, float]
    """Scores of the five dimensions, 1–5."""
    origin: Provenance | None
    is_accepted: bool
    """True if it had three quarters of what was done, or somebody accepted it by a word."""


@dataclass(frozen=True)
class Lesson:
    """Outcome of one ticket, with the features that spoke for each page when it arrived."""

    source_id: str
    """Id of the ticket."""
    kind: str
    """Key that tickets share whose alerts differ in numbers only."""
    at: float
    """Time of the last work on it."""
    is_alert: bool
    pages: tuple[PageSigns, ...]
    """Nearest pages, best first."""
    right: str = ""
    """Id of the document that treats the fault; empty if not known."""
    wrong: frozenset[str] = frozenset()
    """Ids of documents that do not treat it."""
    workflow: ScoredWorkflow | None = None
    """The workflow shown, if its page was the right one."""
    judged_by: str = ""
    """Digest of the judge's name, if nobody ticked anything."""
    judgement: Judgement = field(default=Judgement.NONE)
    teachers: frozenset[str] = frozenset({LOCAL_TEACHER})
    """People and sources whose word or work the outcome is; a simulated one's is the machine's."""


_ROWS_AT_ONCE = 200
"""Rows held in memory at a time: each has a workflow."""


class Lessons:
    """Reader of what ended tickets teach."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Lesson]:
        """Return the lessons of all tickets, purged ones too, in the order of their last work."""
        with self._database.session() as session:
            bodies = list(map(_LESSON.validate_python, session.scalars(select(LessonRow.body))))
            subjects = [ticket_subject(each.source_id) for each in bodies]
            teachers = load_teachers(session, subjects)
            kept = [_with_teachers_left(each, teachers) for each in bodies]
            lessons = [*_stored_lessons(session), *kept]
        return sorted(lessons, key=lambda lesson: (lesson.at, lesson.source_id))


def keep_lessons(session: Session, ticket_ids: Collection[str]) -> set[str]:
    """Keep what these tickets teach, in the transaction that purges them; return which teach."""
    lessons = _stored_lessons(session, ticket_ids)
    for each in lessons:
        body = _LESSON.dump_python(each, mode="json")
        session.merge(LessonRow(source_id=each.source_id, at=each.at, body=body))
    return {each.source_id for each in lessons}


def judge_digest(name: str) -> str:
    """Return the digest by which a lesson knows its judge."""
    return hashlib.sha256(name.encode()).hexdigest()[:32] if name else ""


_LESSON = TypeAdapter(Lesson)


def _with_teachers_left(lesson: Lesson, teachers: Teachers) -> Lesson:
    """Return the lesson of a purged ticket without teachers whose teaching was taken back since."""
    subject = ticket_subject(lesson.source_id)
    if all(at != subject for at, _ in teachers.by_work):  # from before there was a ledger
        return lesson
    return replace(lesson, teachers=lesson.teachers & teachers.on(subject))


def _stored_lessons(session: Session, ticket_ids: Collection[str] | None = None) -> list[Lesson]:
    """Return the lessons of these tickets, or of all that are stored."""
    conditions = () if ticket_ids is None else (WorkflowRow.ticket_id.in_(ticket_ids),)
    statement = (
        select(
            TicketRow.id,
            TicketRow.family,
            TicketRow.workflow_id,
            TicketRow.resolved_at.is_not(None).label("is_over"),
            ServedRow,
            AdoptionRow,
            ScoreRow,
            WorkflowRow.body,
        )
        .join(ServedRow, ServedRow.ticket_id == TicketRow.id)
        .join(WorkflowRow, WorkflowRow.ticket_id == TicketRow.id)
        .join(AdoptionRow, AdoptionRow.candidate_id == WorkflowRow.id)
        .join(ScoreRow, ScoreRow.workflow_id == WorkflowRow.id)
        .where(*conditions)
        .order_by(TicketRow.id, AdoptionRow.worked_at)
    )
    shown = (
        select(TicketRow.id, WorkflowRow.candidate_id)
        .join(WorkflowRow, WorkflowRow.id == TicketRow.workflow_id)
        .where(*conditions)
    )
    candidates = dict(session.execute(shown).tuples().all())
    work = _load_work(session, *conditions)
    rows = session.execute(statement.execution_options(yield_per=_ROWS_AT_ONCE))
    return [
        lesson
        for id_, own in groupby(rows, key=lambda row: str(row.id))
        if (lesson := _lesson(list(own), candidates.get(id_), work))
    ]


class _TicketWork(NamedTuple):
    """Names of those who worked on tickets, and the teachers that they are."""

    names: Mapping[str, frozenset[str]]
    """Names of those who ticked or edited, by ticket."""
    teachers: Teachers

    def teachers_of(self, ticket_id: str, outcome: AdoptionRow) -> frozenset[str]:
        """Return those whose verdict the outcome is; without one, those who did the work."""
        subject, names = ticket_subject(ticket_id), self.names.get(ticket_id, frozenset())
        by = {outcome.judged_by} if outcome.verdict else names
        return frozenset(self.teachers.of(subject, name) for name in by) - {""}


def _load_work(session: Session, *conditions: ColumnElement[bool]) -> _TicketWork:
    marks = select(WorkflowRow.ticket_id, MarkRow.marked_by).join(
        MarkRow, MarkRow.candidate_id == WorkflowRow.id
    )
    edits = select(WorkflowRow.ticket_id, WorkflowRow.author).where(*conditions)
    names = defaultdict[str, set[str]](set)
    for ticket_id, name in session.execute(marks.where(*conditions).union(edits)):
        if name:
            names[ticket_id].add(name)
    judged = select(WorkflowRow.ticket_id).join(
        AdoptionRow, AdoptionRow.candidate_id == WorkflowRow.id
    )
    tickets = {*names, *session.scalars(judged.where(*conditions))}
    teachers = load_teachers(session, [ticket_subject(id_) for id_ in tickets])
    return _TicketWork({id_: frozenset(by) for id_, by in names.items()}, teachers)


def _lesson(
    rows: list[Row[*tuple[Any, ...]]], edited: str | None, work: _TicketWork
) -> Lesson | None:
    """Return the lesson of one ticket; None if its outcome is not known yet.

    `edited` is the candidate whose version the ticket shows.
    """
    right, wrong = "", set[str]()
    workflow, outcome = None, rows[-1].AdoptionRow
    for row in rows:
        used: AdoptionRow = row.AdoptionRow
        taken_as, page = classify_outcome(used, is_over=row.is_over), next(iter(used.documents), "")
        is_shown = used.candidate_id in {row.workflow_id, edited}
        if taken_as is Taken.REJECTED and not used.had:
            wrong.add(page)
        elif is_shown and taken_as in {Taken.ACCEPTED, Taken.PARTLY, Taken.WORD_ONLY}:
            right, outcome = page, used
            is_accepted = taken_as is not Taken.PARTLY
            workflow = ScoredWorkflow(
                {name: getattr(row.ScoreRow, name) for name in DIMENSIONS},
                Workflow.model_validate_json(row.body).provenance,
                is_accepted,
            )
    wrong -= {right, ""}
    if not right and not wrong:
        return None
    is_by_word = not outcome.did
    return Lesson(
        source_id=str(rows[0].id),
        kind=str(rows[0].family) or str(rows[0].id),
        at=max(row.AdoptionRow.worked_at for row in rows),
        is_alert=rows[0].ServedRow.is_alert,
        pages=tuple(PageSigns.model_validate(page) for page in rows[0].ServedRow.pages),
        right=right,
        wrong=frozenset(wrong),
        workflow=workflow,
        judged_by=judge_digest(outcome.judged_by) if is_by_word else "",
        judgement=Judgement(outcome.verdict) if is_by_word else Judgement.NONE,
        teachers=work.teachers_of(str(rows[0].id), outcome),
    )
