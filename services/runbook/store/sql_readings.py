"""Adapter of `ReadingStore` on SQL tables."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Text, cast, delete, func, select
from sqlalchemy.orm import Session

from services.kit.access.audit import add_audit
from services.kit.batches import batches
from services.kit.sql.database import Database
from services.runbook.checking.doubts import with_ticket_doubts, without_ticket_doubts
from services.runbook.model import Procedure, Reader, Reading
from services.runbook.ports import (
    Approval,
    ApprovalKind,
    ApprovedProcedure,
    BoxBefore,
    Event,
    Happening,
    NothingToUndoError,
    Offer,
    ReadingChangedError,
    ReadingState,
    ServedReading,
    TextFilter,
    TextSummary,
    TicketDoubt,
)
from services.runbook.serving import (
    SERVING_ORDER,
    best_reading,
    find_offers,
    is_covered,
    merge_served,
)
from services.runbook.store.locked_text import (
    LockedText,
    reading_of,
    served_alone,
    ticket_doubt,
)
from services.runbook.tables import (
    AnsweredQuestionRow,
    AnswerRow,
    ApprovalRow,
    HistoryRow,
    PreparedRow,
    ReadingRow,
    TextRow,
    TicketDoubtRow,
)

_INGESTION = "ingestion"


class SqlReadingStore:
    """Implements `procedure.ports.ReadingStore`; the rows of a text are changed one at a time."""

    def __init__(self, database: Database) -> None:
        """Create the store; tables must exist: `database.migrate("kit", "procedure")`."""
        self._database = database

    def put(self, text_hash: str, reading: Reading, *, who: str = "", detail: str = "") -> None:
        """See `ReadingStore.put`."""
        is_imported = reading.reader is Reader.IMPORTED
        what = Happening.IMPORTED if is_imported else Happening.READ
        reading = without_ticket_doubts(reading)
        with self._locked(text_hash) as text:
            if text.readings.get(reading.reader) == reading:
                return
            before = text.snapshot() if is_imported else None
            text.keep(reading)
            label = filter(None, (reading.reader.value, reading.model, reading.version))
            text.note(who or " ".join(label), what, detail, before)

    def replace(
        self,
        text_hash: str,
        reading: Reading,
        *,
        who: str,
        what: Happening,
        detail: str = "",
        boxes: Sequence[BoxBefore] = (),
        revision: str = "",
    ) -> None:
        """See `ReadingStore.replace`."""
        unsettled = {doubt.id for doubt in reading.doubts}
        own = without_ticket_doubts(reading).model_copy(
            update={"reader": Reader.PERSON, "version": "", "model": ""}
        )
        with self._locked(text_hash, revision=revision) as text:
            before = text.snapshot(boxes)
            now = text.served()
            doubts = now.reading.doubts if now else ()
            text.settle({each.id for each in doubts if each.ticket} - unsettled)
            text.keep(own)
            kept = [each for each in text.approved if each.procedure in own.procedures]
            text.set_approved(kept)
            text.note(who, what, detail, before)

    def note_boxes(
        self, text_hash: str, boxes: Sequence[BoxBefore], *, who: str, detail: str
    ) -> None:
        """See `ReadingStore.note_boxes`."""
        with self._locked(text_hash) as text:
            text.note(who, Happening.BOX_CORRECTED, detail, text.snapshot(boxes))

    def approve(
        self,
        text_hash: str,
        procedures: Iterable[Procedure],
        *,
        who: str,
        kind: ApprovalKind = ApprovalKind.WORKFLOW,
        revision: str = "",
    ) -> None:
        """See `ReadingStore.approve`."""
        checked = list(procedures)
        approval = Approval(by=who, at=datetime.now(UTC), kind=kind)
        with self._locked(text_hash, is_new_allowed=False, revision=revision) as text:
            before = text.snapshot()
            now = text.served()
            reading = now.reading if now else None
            doubts = (
                [d for d in reading.doubts if reading.procedures[d.procedure] in checked]
                if reading
                else []
            )
            text.settle({each.id for each in doubts if each.ticket})
            others = [each for each in text.approved if not is_covered(each.procedure, checked)]
            new = [ApprovedProcedure(procedure=each, approval=approval) for each in checked]
            text.set_approved([*others, *new])
            text.row.was_approved = False
            titles = ", ".join(each.title for each in checked)
            detail = f"{titles}, as a checklist" if kind is ApprovalKind.CHECKLIST else titles
            detail += f"; seen with {len(doubts)} open doubts" if doubts else ""
            text.note(who, Happening.APPROVED, detail, before)

    def doubt(self, text_hash: str, doubt: TicketDoubt) -> None:
        """See `ReadingStore.doubt`."""
        with self._database.session() as session:
            row = session.get(TicketDoubtRow, (doubt.ticket, doubt.step))
            elsewhere = row.text_hash if row and row.text_hash != text_hash else ""
            if (
                row
                and not elsewhere
                and ticket_doubt(row).model_copy(update=_ANY_TIME)
                == (doubt.model_copy(update=_ANY_TIME))
            ):
                return
        if elsewhere:
            self.withdraw([doubt.ticket], doubt.step)
        with self._locked(text_hash, is_new_allowed=False) as text:
            text.add(doubt)
            # The word goes with its ticket; what it was said of is the page's own.
            text.note(doubt.by, Happening.DOUBTED, doubt.text)

    def withdraw(self, tickets: Collection[str], step: str = "") -> None:
        """See `ReadingStore.withdraw`."""
        mine = select(TicketDoubtRow.text_hash).where(TicketDoubtRow.ticket.in_(tickets))
        if step:
            mine = mine.where(TicketDoubtRow.step == step)
        with self._database.session() as session:
            hashes = set(session.scalars(mine))
        for text_hash in sorted(hashes):
            with self._locked(text_hash, is_new_allowed=False) as text:
                text.forget_doubts(tickets, step)

    def undo(self, text_hash: str, *, who: str, event: int | None = None) -> Event:
        """See `ReadingStore.undo`."""
        with self._locked(text_hash, is_new_allowed=False) as text:
            session = text.session
            last = session.scalar(
                select(HistoryRow)
                .where(
                    HistoryRow.text_hash == text_hash,
                    HistoryRow.before.is_not(None),
                    HistoryRow.undone.is_(False),
                )
                .order_by(HistoryRow.id.desc())
                .limit(1)
            )
            if last is None or last.before is None:
                raise NothingToUndoError(f"no person has changed anything of {text_hash!r}")
            if event not in {None, last.id}:
                raise ReadingChangedError(
                    f"the last change is no longer the one to be undone, but “{last.what} "
                    f"{last.detail[:80]}” by {last.who}: look at it first"
                )
            text.restore(last.before)
            last.undone = True
            text.note(who, Happening.UNDONE, f"{last.what} {last.detail}".strip())
            return _event(last)

    def answer_question(
        self,
        text_hash: str,
        question: str,
        block: str,
        *,
        who: str,
        detail: str,
        doubt: str = "",
        revision: str = "",
    ) -> None:
        """See `ReadingStore.answer_question`."""
        with self._locked(text_hash, revision=revision) as text:
            before = text.snapshot()
            now = text.served()
            if now and any(each.id == doubt for each in now.reading.doubts):
                left = tuple(each for each in now.reading.doubts if each.id != doubt)
                settled = now.reading.model_copy(
                    update={"doubts": left, "reader": Reader.PERSON, "version": "", "model": ""}
                )
                text.keep(without_ticket_doubts(settled))
            text.set_answered(text.answered | {question: block})
            text.note(who, Happening.ANSWERED, detail, before)

    def answered_questions(self, text_hash: str) -> dict[str, str]:
        """See `ReadingStore.answered_questions`."""
        mine = select(AnsweredQuestionRow).where(AnsweredQuestionRow.text_hash == text_hash)
        with self._database.session() as session:
            return {row.id: row.block for row in session.scalars(mine)}

    def carry_answers(self, text_hash: str, answered: Mapping[str, str]) -> None:
        """See `ReadingStore.carry_answers`."""
        with self._locked(text_hash) as text:
            text.set_answered({**answered, **text.answered})

    def carry_over(
        self,
        text_hash: str,
        carried: Sequence[ApprovedProcedure],
        *,
        lost: Sequence[str],
        reading: Reading | None = None,
        is_changed: bool = False,
    ) -> bool:
        """See `ReadingStore.carry_over`."""
        with self._locked(text_hash) as text:
            approved = [each.procedure for each in text.approved]
            new = [each for each in carried if not is_covered(each.procedure, approved)]
            if new:
                text.set_approved([*text.approved, *new])
            titles = [each.procedure.title for each in new]
            if reading is not None and best_reading(text.readings) is None:
                text.keep(without_ticket_doubts(reading))
                titles += [each.title for each in reading.procedures]
            if titles:
                text.note(_INGESTION, Happening.CARRIED_OVER, ", ".join(titles))
            is_new_mark = is_changed and not text.row.was_approved
            text.row.was_approved |= is_changed
            lost_titles = ", ".join(lost)
            is_new_loss = bool(lost) and not text.is_in_history(Happening.FELL_BACK, lost_titles)
            if is_new_loss:
                text.row.was_approved = True
                text.note(_INGESTION, Happening.FELL_BACK, lost_titles)
        return bool(titles) or is_new_mark or is_new_loss

    def served(self, text_hash: str) -> ServedReading | None:
        """See `ReadingStore.served`."""
        return self.served_many([text_hash]).get(text_hash)

    def served_many(self, text_hashes: Sequence[str]) -> dict[str, ServedReading]:
        """See `ReadingSource.served_many`."""
        by_hash: dict[str, ServedReading] = {}
        with self._database.session() as session:
            for some in batches(text_hashes):
                statement = select(TextRow.text_hash, TextRow.was_approved)
                rows = session.execute(statement.where(TextRow.text_hash.in_(some)))
                marked = dict(rows.tuples().all())
                readings = _readings(session, some)
                approvals = _approvals(session, some)
                doubts = _open_doubts(session, some)
                for text_hash, was_approved in marked.items():
                    own = readings.get(text_hash, {})
                    best = _served(own, approvals.get(text_hash, []))
                    if best is not None and was_approved:
                        best = best.model_copy(update={"was_approved": True})
                    if best is not None:
                        by_hash[text_hash] = with_ticket_doubts(best, doubts.get(text_hash, []))
        return by_hash

    def unedited(self, text_hash: str) -> Reading | None:
        """See `ReadingStore.unedited`."""
        with self._database.session() as session:
            stored = _readings(session, [text_hash]).get(text_hash, {})
        stored.pop(Reader.PERSON, None)
        return best_reading({reader: reading_of(each.json) for reader, each in stored.items()})

    def offers(self, text_hash: str) -> list[Offer]:
        """See `ReadingStore.offers`."""
        with self._database.session() as session:
            stored = _readings(session, [text_hash]).get(text_hash, {})
        readings = {reader: (reading_of(each.json), each.at) for reader, each in stored.items()}
        return find_offers(readings, self.approved(text_hash))

    def approved(self, text_hash: str) -> list[ApprovedProcedure]:
        """See `ReadingStore.approved`."""
        with self._database.session() as session:
            return _approvals(session, [text_hash]).get(text_hash, [])

    def history(self, text_hash: str) -> list[Event]:
        """See `ReadingStore.history`."""
        mine = select(HistoryRow).where(HistoryRow.text_hash == text_hash)
        with self._database.session() as session:
            return [_event(row) for row in session.scalars(mine.order_by(HistoryRow.id.desc()))]

    def summaries(self, text_hashes: Sequence[str]) -> dict[str, TextSummary]:
        """See `ReadingStore.summaries`."""
        by_hash: dict[str, TextSummary] = {}
        with self._database.session() as session:
            for some in batches(text_hashes):
                rows = session.scalars(select(TextRow).where(TextRow.text_hash.in_(some)))
                by_hash |= {row.text_hash: _summary(row) for row in rows}
        return by_hash

    def list_texts(self, filters: TextFilter) -> list[TextSummary]:
        """See `ReadingStore.list_texts`."""
        statement = select(TextRow).where(TextRow.reader != "").order_by(TextRow.text_hash)
        if filters.reader is not None:
            statement = statement.where(TextRow.reader == filters.reader.value)
        if filters.doubts is not None:
            has_some = TextRow.doubts > 0
            statement = statement.where(has_some if filters.doubts else ~has_some)
        if filters.state is ReadingState.APPROVED:
            statement = statement.where(TextRow.approved > 0)
        if filters.state is ReadingState.READ:
            is_open = (TextRow.approved < TextRow.procedures) | (TextRow.procedures == 0)
            statement = statement.where(is_open)
        with self._database.session() as session:
            return [_summary(row) for row in session.scalars(statement)]

    def made_by(self, reader: Reader, version: str, model: str = "") -> set[str]:
        """See `ReadingStore.made_by`."""
        statement = select(ReadingRow.text_hash).where(
            ReadingRow.reader == reader.value,
            ReadingRow.version == version,
            ReadingRow.model == model,
        )
        with self._database.session() as session:
            return set(session.scalars(statement))

    def drop(self, text_hashes: Sequence[str]) -> None:
        """See `ReadingStore.drop`."""
        others = select(ReadingRow.text_hash).where(ReadingRow.reader != Reader.RULES.value)
        approved = select(ApprovalRow.text_hash)
        set_aside = select(HistoryRow.text_hash).where(HistoryRow.what == Happening.SET_ASIDE.value)
        with self._database.session() as session:
            for some in batches(text_hashes):
                session.execute(
                    delete(TextRow).where(
                        TextRow.text_hash.in_(some),
                        TextRow.text_hash.not_in(others),
                        TextRow.text_hash.not_in(approved),
                        TextRow.text_hash.not_in(set_aside),
                    )
                )
                left = select(TextRow.text_hash)
                for kept in (AnswerRow, PreparedRow):
                    is_gone = (kept.text_hash.in_(some), kept.text_hash.not_in(left))
                    session.execute(delete(kept).where(*is_gone))

    def delete(self, text_hashes: Sequence[str]) -> int:
        """See `ReadingStore.delete`."""
        approved = 0
        with self._database.session() as session:
            for some in batches(text_hashes):
                of_these = ApprovalRow.text_hash.in_(some)
                counted = select(func.count()).select_from(ApprovalRow).where(of_these)
                approved += session.scalar(counted) or 0
                session.execute(delete(TextRow).where(TextRow.text_hash.in_(some)))
                for kept in (AnswerRow, PreparedRow):
                    session.execute(delete(kept).where(kept.text_hash.in_(some)))
            if approved:
                add_audit(session, "reading.deleted", "texts", {"approved": approved})
        return approved

    @contextmanager
    def _locked(
        self, text_hash: str, *, is_new_allowed: bool = True, revision: str = ""
    ) -> Iterator[LockedText]:
        with self._database.session() as session:
            text = LockedText(session, text_hash, is_new_allowed=is_new_allowed, revision=revision)
            yield text
            text.finish()


class _StoredReading(NamedTuple):
    """A reading as JSON, with the time of its row."""

    json: str
    at: datetime


def _served(
    readings: Mapping[Reader, _StoredReading], approved: Sequence[ApprovedProcedure]
) -> ServedReading | None:
    """Return the best reading; without approvals it is cached by the JSON of its row."""
    by_rank = [reader for reader in SERVING_ORDER if reader in readings]
    if not approved:
        return served_alone(readings[by_rank[0]].json) if by_rank else None
    return merge_served({reader: reading_of(readings[reader].json) for reader in by_rank}, approved)


def _readings(session: Session, hashes: Sequence[str]) -> dict[str, dict[Reader, _StoredReading]]:
    """Return the current readings of texts, by text and reader."""
    by_hash: dict[str, dict[Reader, _StoredReading]] = {}
    stored = cast(ReadingRow.reading, Text)
    statement = select(ReadingRow.text_hash, ReadingRow.reader, stored, ReadingRow.updated_at)
    mine = statement.where(ReadingRow.text_hash.in_(hashes))
    for text_hash, reader, reading, at in session.execute(mine).tuples():
        by_hash.setdefault(text_hash, {})[Reader(reader)] = _StoredReading(reading, at)
    return by_hash


def _approvals(session: Session, hashes: Sequence[str]) -> dict[str, list[ApprovedProcedure]]:
    """Return the approved procedures by text, in the order of their approval."""
    by_hash: dict[str, list[ApprovedProcedure]] = {}
    stored = cast(ApprovalRow.procedure, Text)
    columns = (ApprovalRow.text_hash, stored, ApprovalRow.who, ApprovalRow.at, ApprovalRow.kind)
    statement = select(*columns)
    mine = statement.where(ApprovalRow.text_hash.in_(hashes)).order_by(ApprovalRow.id)
    for text_hash, procedure, who, at, kind in session.execute(mine).tuples():
        approval = Approval(by=who, at=at, kind=ApprovalKind(kind))
        checked = Procedure.model_validate_json(procedure)
        each = ApprovedProcedure(procedure=checked, approval=approval)
        by_hash.setdefault(text_hash, []).append(each)
    return by_hash


_ANY_TIME = {"at": datetime.min}
"""The change that makes two doubts comparable whatever their time."""


def _open_doubts(session: Session, hashes: Sequence[str]) -> dict[str, list[TicketDoubt]]:
    """Return the open doubts of tickets by text, the oldest first."""
    by_hash: dict[str, list[TicketDoubt]] = {}
    is_open = (TicketDoubtRow.text_hash.in_(hashes), TicketDoubtRow.settled.is_(False))
    for row in session.scalars(select(TicketDoubtRow).where(*is_open).order_by(TicketDoubtRow.at)):
        by_hash.setdefault(row.text_hash, []).append(ticket_doubt(row))
    return by_hash


def _event(row: HistoryRow) -> Event:
    return Event(
        id=row.id,
        at=row.at,
        who=row.who,
        what=Happening(row.what),
        detail=row.detail,
        is_undone=row.undone,
        is_undoable=row.before is not None and not row.undone,
    )


def _summary(row: TextRow) -> TextSummary:
    return TextSummary(
        text_hash=row.text_hash,
        reader=Reader(row.reader) if row.reader else None,
        procedures=row.procedures,
        approved=row.approved,
        checklists=row.checklists,
        doubts=row.doubts,
        was_approved=row.was_approved,
        updated_at=row.updated_at,
    )
