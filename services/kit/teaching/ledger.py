"""Ledger of who taught by which ticket or page, and of the callers whose teaching is taken back."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, case, delete, exists, func, or_, select
from sqlalchemy.orm import Session

from services.kit.access.audit import add_audit
from services.kit.access.caller import (
    LOCAL,
    PLATFORM,
    PLATFORM_KEY,
    Caller,
    CallerKind,
    current_caller,
    person_teacher,
)
from services.kit.batches import batches
from services.kit.errors import NotFoundError
from services.kit.sql.database import Database, insert_of
from services.kit.tables import PersonRow, TeachingRow, TeachingWithdrawalRow
from services.kit.teaching.teacher import MOST_A_DAY

_DAY_S = 86_400.0


class TeacherNotFoundError(NotFoundError):
    """Error of a name or id of a caller who has taught nothing."""


def ticket_subject(ticket_id: str) -> str:
    """Return the subject of work on a ticket."""
    return f"ticket {ticket_id}"


def page_subject(document_id: str) -> str:
    """Return the subject of work on a page."""
    return f"document {document_id}"[:400]


def run_subject(ticket_id: str) -> str:
    """Return the subject of runs on a ticket, which are learned from when they are summarised."""
    return f"run of {ticket_id}"


def record_teaching(
    session: Session, subject: str, caller: Caller | None = None, *, at: float | None = None
) -> bool:
    """Record, in the caller's transaction, that a caller worked on a subject; return if it counts.

    Further work on the same subject is recorded once. The current caller and this moment are the
    defaults. The bound of a day is one for each kind of subject, and none for whoever sits at the
    machine.
    """
    caller = caller or current_caller()
    teacher, now = caller.teacher, time.time() if at is None else min(at, time.time())
    if not teacher:
        return False
    place = {"subject": subject[:400], "caller_id": caller.lasting_id[:400]}
    existing = session.get(TeachingRow, (place["subject"], place["caller_id"]))
    if existing is not None:
        return existing.counts
    kind = subject.partition(" ")[0] + " "
    of_day = (
        TeachingRow.teacher == teacher,
        TeachingRow.at.between(now - _DAY_S, now),
        TeachingRow.subject.startswith(kind, autoescape=True),
        TeachingRow.subject != place["subject"],
    )
    number = func.count(TeachingRow.subject.distinct())
    taught = session.scalar(select(number).where(*of_day)) or 0
    counts = taught < MOST_A_DAY or teacher == LOCAL.teacher
    values = {
        "caller": caller.name[:200],
        "teacher": teacher[:400],
        "at": now,
        "counts": counts,
    }
    row = insert_of(session)(TeachingRow).values(**place, **values)
    session.execute(row.on_conflict_do_nothing())
    return counts


def teacher_of(session: Session, subject: str, caller: Caller, at: float) -> str | None:
    """Return whose teaching the work of a caller on a subject is; None if it is taken back.

    It is empty for the platform's own, and beyond the bound of a day. Work from before it was
    recorded is recorded, in the caller's transaction.
    """
    record_teaching(session, subject, caller, at=at)
    mine = TeachingRow.subject == subject[:400], TeachingRow.caller_id == caller.lasting_id[:400]
    columns = TeachingRow.teacher, TeachingRow.counts, _is_withdrawn()
    row = session.execute(select(*columns).where(*mine)).first()
    if row is None:
        return ""
    teacher, counts, is_withdrawn = row
    if is_withdrawn:
        return None
    return teacher if counts else ""


def forget_teaching(session: Session, subjects: Collection[str]) -> None:
    """Delete, in the caller's transaction, who taught by these subjects."""
    for some in batches(sorted(subjects)):
        session.execute(delete(TeachingRow).where(TeachingRow.subject.in_(some)))


@dataclass(frozen=True)
class Teachers:
    """Teachers of some subjects, by the names under which their work is stored."""

    by_work: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Teacher by subject and name; empty for work that does not count."""
    withdrawn: frozenset[str] = frozenset()
    """Names of callers whose teaching is taken back."""
    subject_by_name: Mapping[str, str] = field(default_factory=dict)
    """Subjects of the people who signed in, by name."""

    def of(self, subject: str, name: str) -> str:
        """Return whose teaching the work is; empty if it does not count.

        Work from before there was a ledger is told apart by names.
        """
        place = subject[:400], name
        if place in self.by_work:
            return self.by_work[place]
        if name in {"", PLATFORM.name} or name in self.withdrawn:
            return ""
        if name.startswith(f"{CallerKind.KEY} ") or name == PLATFORM_KEY.name:
            return PLATFORM_KEY.teacher
        is_local = name == LOCAL.name
        return LOCAL.teacher if is_local else person_teacher(self.subject_by_name.get(name, name))

    def on(self, subject: str) -> frozenset[str]:
        """Return the teachers who worked on a subject, and whose work counts."""
        mine = (teacher for (at, _), teacher in self.by_work.items() if at == subject[:400])
        return frozenset(mine) - {""}


def load_teachers(session: Session, subjects: Collection[str]) -> Teachers:
    """Load the teachers of these subjects."""
    is_withdrawn = _is_withdrawn().label("is_withdrawn")
    people = select(PersonRow.name, PersonRow.subject)
    by_work: dict[tuple[str, str], str] = {}
    for some in batches(sorted({each[:400] for each in subjects})):
        rows = select(TeachingRow, is_withdrawn).where(TeachingRow.subject.in_(some))
        for row, is_back in session.execute(rows.order_by(TeachingRow.at)):
            teacher = row.teacher if row.counts and not is_back else ""
            by_work.setdefault((row.subject, row.caller), teacher)
    withdrawn = frozenset(session.scalars(select(TeachingWithdrawalRow.caller)))
    return Teachers(by_work, withdrawn, dict(session.execute(people).tuples().all()))


def withdrawn_subjects(session: Session, prefix: str) -> frozenset[str]:
    """Return the subjects with this prefix that a caller taught by whose teaching is back."""
    is_kind = TeachingRow.subject.startswith(prefix, autoescape=True)
    return frozenset(session.scalars(select(TeachingRow.subject).where(is_kind, _is_withdrawn())))


def withdrawals_state(session: Session) -> tuple[int, float]:
    """Return what changes whenever teaching is taken back or restored."""
    statement = select(func.count(), func.max(TeachingWithdrawalRow.at))
    number, latest = session.execute(statement.select_from(TeachingWithdrawalRow)).one()
    return int(number), float(latest or 0.0)


@dataclass(frozen=True)
class TeachingCount:
    """Teaching by one caller."""

    caller: str
    teacher: str
    subjects: int
    """Number of tickets and pages taught by."""
    beyond: int
    """Number beyond the bound of a day, which do not count."""
    latest_at: datetime
    withdrawn_at: datetime | None


class TeachingLedger:
    """Reader of who taught, and where teaching is taken back; thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def counts(self) -> list[TeachingCount]:
        """Return the callers who taught, the latest first."""
        latest, back = func.max(TeachingRow.at), func.max(TeachingWithdrawalRow.at)
        statement = (
            select(
                TeachingRow.caller,
                TeachingRow.teacher,
                func.count(),
                func.sum(case((TeachingRow.counts, 0), else_=1)),
                latest,
                back,
            )
            .outerjoin(
                TeachingWithdrawalRow, TeachingWithdrawalRow.caller_id == TeachingRow.caller_id
            )
            .group_by(TeachingRow.caller, TeachingRow.teacher)
            .order_by(latest.desc(), TeachingRow.caller)
        )
        with self._database.session() as session:
            return [
                TeachingCount(
                    caller=caller,
                    teacher=teacher,
                    subjects=int(subjects),
                    beyond=int(beyond),
                    latest_at=datetime.fromtimestamp(at, UTC),
                    withdrawn_at=datetime.fromtimestamp(back_at, UTC) if back_at else None,
                )
                for caller, teacher, subjects, beyond, at, back_at in session.execute(statement)
            ]

    def withdraw(self, session: Session, caller: str) -> frozenset[str]:
        """Take back what a caller taught so far, and return the subjects.

        `caller` is their name or id, or the person who holds several keys.

        Raises:
            TeacherNotFoundError: Nobody of that name or id has taught.
        """
        rows = session.scalars(select(TeachingRow).where(_is_by(caller))).all()
        if not rows:
            raise TeacherNotFoundError(f"nobody called {caller[:200]!r} has taught anything")
        values = {"at": time.time(), "by": current_caller().name[:200]}
        for id_, name in sorted({(row.caller_id, row.caller) for row in rows}):
            row = insert_of(session)(TeachingWithdrawalRow)
            row = row.values(caller_id=id_, caller=name, **values)
            session.execute(row.on_conflict_do_update(index_elements=["caller_id"], set_=values))
        subjects = frozenset(row.subject for row in rows)
        after = {"caller": caller[:200], "subjects": len(subjects)}
        add_audit(session, "teaching.withdrawn", "teaching", after=after)
        return subjects

    def restore(self, session: Session, caller: str) -> frozenset[str]:
        """Let count again what was taken back of a caller, and return the subjects.

        Raises:
            TeacherNotFoundError: Nobody of that name or id has taught.
        """
        rows = session.scalars(select(TeachingRow).where(_is_by(caller))).all()
        if not rows:
            raise TeacherNotFoundError(f"nobody called {caller[:200]!r} has taught anything")
        ids = {row.caller_id for row in rows}
        mine = TeachingWithdrawalRow.caller_id.in_(ids)
        session.execute(delete(TeachingWithdrawalRow).where(mine))
        add_audit(session, "teaching.restored", "teaching", before={"caller": caller[:200]})
        return frozenset(row.subject for row in rows)


def _is_by(caller: str) -> ColumnElement[bool]:
    """Return the condition of the work of a caller, or of all keys of a person."""
    return or_(
        TeachingRow.caller == caller,
        TeachingRow.caller_id == caller,
        TeachingRow.teacher.in_((caller, person_teacher(caller))),
    )


def _is_withdrawn() -> ColumnElement[bool]:
    """Return the condition of work that is taken back."""
    return exists().where(
        TeachingWithdrawalRow.caller_id == TeachingRow.caller_id,
        TeachingWithdrawalRow.at >= TeachingRow.at,
    )
