"""The rows of one text, locked for a transaction."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from services.kit.access.audit import add_audit
from services.runbook.checking.doubts import doubt_id, with_ticket_doubts
from services.runbook.model import Procedure, Reader, Reading, as_json
from services.runbook.ports import (
    UNREAD,
    Approval,
    ApprovalKind,
    ApprovedProcedure,
    BoxBefore,
    Happening,
    ReadingChangedError,
    ReadingNotFoundError,
    ServedReading,
    TicketDoubt,
)
from services.runbook.serving import merge_served
from services.runbook.tables import (
    AnsweredQuestionRow,
    ApprovalRow,
    BoxRow,
    HistoryRow,
    ReadingRow,
    TextRow,
    TicketDoubtRow,
)

Snapshot = dict[str, Any]
"""People's readings, approvals, answers, settled doubts and boxes of a text as JSON."""

_CACHED_READINGS = 512
"""Readings kept as objects, some 20 MB."""
_PEOPLE_READERS = (Reader.PERSON, Reader.IMPORTED)


class LockedText:
    """The rows of a text, locked from construction until the transaction ends.

    `finish` must be called after the changes.
    """

    def __init__(
        self, session: Session, text_hash: str, *, is_new_allowed: bool, revision: str = ""
    ) -> None:
        """Lock the text.

        Raises:
            ReadingNotFoundError: Nobody has read the text, and it may not be created.
            ReadingChangedError: Another revision than this one is served.
        """
        self.session = session
        self.hash = text_hash
        if is_new_allowed:
            self._insert_row()
        mine = update(TextRow).where(TextRow.text_hash == text_hash)
        locked = session.execute(mine.values(text_hash=text_hash)).rowcount  # type: ignore[attr-defined]
        if not locked:
            raise ReadingNotFoundError(f"nobody has read a text with the hash {text_hash!r}")
        self.row = session.get_one(TextRow, text_hash, populate_existing=True)
        readings = session.scalars(select(ReadingRow).where(ReadingRow.text_hash == text_hash))
        self.readings = {
            Reader(row.reader): Reading.model_validate(row.reading) for row in readings
        }
        approvals = select(ApprovalRow).where(ApprovalRow.text_hash == text_hash)
        self.approved = [
            ApprovedProcedure(
                procedure=Procedure.model_validate(row.procedure),
                approval=Approval(by=row.who, at=row.at, kind=ApprovalKind(row.kind)),
            )
            for row in session.scalars(approvals.order_by(ApprovalRow.id))
        ]
        self._initial = dict(self.readings), self.approved
        self.ticket_rows: Sequence[TicketDoubtRow] = ()
        self._load_doubts()
        questions = select(AnsweredQuestionRow).where(AnsweredQuestionRow.text_hash == text_hash)
        self.answered = {row.id: row.block for row in session.scalars(questions)}
        if revision and revision != (self.served() or UNREAD).revision:
            raise ReadingChangedError("the reading has changed meanwhile: look at it again")

    def snapshot(self, boxes: Sequence[BoxBefore] = ()) -> Snapshot:
        """Return what people did to the text as it is, beside `boxes`."""
        readings: Snapshot = {
            reader.value: as_json(self.readings[reader]) if reader in self.readings else None
            for reader in _PEOPLE_READERS
        }
        approved = [each.model_dump(mode="json") for each in self.approved]
        for row, each in zip(approved, self.approved, strict=True):
            row["procedure"] = as_json(each.procedure)
        settled = [[row.ticket, row.step] for row in self.ticket_rows if row.settled]
        approval = {"approved": approved, "was_approved": self.row.was_approved}
        corrections = [each.model_dump(mode="json") for each in boxes]
        answers = {"settled": settled, "answered": self.answered}
        return {**readings, **approval, **answers, "boxes": corrections}

    def restore(self, snapshot: Snapshot) -> None:
        """Restore what people did to the text from a snapshot."""
        for reader in _PEOPLE_READERS:
            before = snapshot[reader.value]
            if before is None:
                self.remove(reader)
            else:
                self.keep(Reading.model_validate(before))
        self.set_approved([ApprovedProcedure.model_validate(row) for row in snapshot["approved"]])
        self.row.was_approved = snapshot["was_approved"]
        for row in self.ticket_rows:
            row.settled = [row.ticket, row.step] in snapshot.get("settled", [])
        for each in map(BoxBefore.model_validate, snapshot.get("boxes", ())):
            mine = {"document_id": each.document_id, "key": each.key}
            self.session.execute(delete(BoxRow).filter_by(**mine))
            if each.word is not None:
                fields = each.word.model_dump(exclude={"key", "at"})
                fields |= {"headings": list(each.word.headings), "updated_at": each.word.at}
                self.session.add(BoxRow(**mine, **fields))
        self.set_answered(snapshot.get("answered", {}))

    def add(self, doubt: TicketDoubt) -> None:
        """Store a ticket's doubt as open."""
        fields = doubt.model_dump() | {"by": doubt.by[:200], "text_hash": self.hash}
        self.session.merge(TicketDoubtRow(**fields, settled=False))
        self._load_doubts()

    def forget_doubts(self, tickets: Collection[str], step: str) -> None:
        """Delete the doubts of these tickets, about one step or about all."""
        for row in self.ticket_rows:
            if row.ticket in tickets and step in {"", row.step}:
                self.session.delete(row)
        self._load_doubts()

    def _load_doubts(self) -> None:
        self.session.flush()
        mine = select(TicketDoubtRow).where(TicketDoubtRow.text_hash == self.hash)
        self.ticket_rows = self.session.scalars(mine.order_by(TicketDoubtRow.at)).all()

    def settle(self, doubts: Collection[str]) -> None:
        """Mark these doubts of tickets as settled by a person."""
        for row in self.ticket_rows:
            if doubt_id(ticket_doubt(row)) in doubts:
                row.settled = True

    def served(self) -> ServedReading | None:
        """Return what is served of the text now, with the open doubts of tickets."""
        now = merge_served(self.readings, self.approved)
        waiting = [ticket_doubt(row) for row in self.ticket_rows if not row.settled]
        return with_ticket_doubts(now, waiting) if now else None

    def keep(self, reading: Reading) -> None:
        """Store a reading in place of the same reader's last one."""
        if self.readings.get(reading.reader) == reading:
            return
        self.readings[reading.reader] = reading
        self.session.merge(
            ReadingRow(
                text_hash=self.hash,
                reader=reading.reader.value,
                version=reading.version,
                model=reading.model,
                reading=as_json(reading),
                updated_at=datetime.now(UTC),
            )
        )

    def remove(self, reader: Reader) -> None:
        """Delete a reader's reading."""
        self.readings.pop(reader, None)
        self.session.execute(
            delete(ReadingRow).where(
                ReadingRow.text_hash == self.hash, ReadingRow.reader == reader.value
            )
        )

    def set_approved(self, approved: Sequence[ApprovedProcedure]) -> None:
        """Replace the approved procedures by these, in their order."""
        self.approved = list(approved)
        self.session.execute(delete(ApprovalRow).where(ApprovalRow.text_hash == self.hash))
        self.session.add_all(
            ApprovalRow(
                text_hash=self.hash,
                procedure=as_json(each.procedure),
                who=each.approval.by,
                at=each.approval.at,
                kind=each.approval.kind.value,
            )
            for each in approved
        )

    def set_answered(self, answered: Mapping[str, str]) -> None:
        """Replace the answered questions by these, blocks by their ids."""
        self.answered = dict(answered)
        mine = AnsweredQuestionRow.text_hash == self.hash
        self.session.execute(delete(AnsweredQuestionRow).where(mine))
        self.session.add_all(
            AnsweredQuestionRow(text_hash=self.hash, id=id_, block=block)
            for id_, block in answered.items()
        )

    def note(
        self, who: str, what: Happening, detail: str = "", before: Snapshot | None = None
    ) -> None:
        """Add an event to the history, and a change by people or their documents to the audit log.

        An event with a `before` can be undone.
        """
        if what not in {Happening.READ, Happening.BOX_CORRECTED}:  # a box has an entry of its own
            now = _audit_summary(self.readings, self.approved)
            action = f"reading.{what.value.replace(' ', '_')}"
            add_audit(
                self.session, action, f"text {self.hash}", _audit_summary(*self._initial), now
            )
        self.session.add(
            HistoryRow(
                text_hash=self.hash,
                at=datetime.now(UTC),
                who=who,
                what=what.value,
                detail=detail,
                before=before,
                undone=False,
            )
        )

    def finish(self) -> None:
        """Update the numbers of what is served; without a reading the reader is empty."""
        now = self.served()
        self.row.reader = now.reading.reader.value if now else ""
        self.row.procedures = len(now.reading.procedures) if now else 0
        kinds = [each.kind for each in now.approvals if each] if now else []
        self.row.approved = len(kinds)
        self.row.checklists = kinds.count(ApprovalKind.CHECKLIST)
        self.row.doubts = len(now.reading.doubts) if now else 0
        self.row.updated_at = datetime.now(UTC)
        self.row.prepared = None

    def is_in_history(self, what: Happening, detail: str) -> bool:
        """Return True if the history has exactly this event."""
        mine = select(HistoryRow.id).where(
            HistoryRow.text_hash == self.hash,
            HistoryRow.what == what.value,
            HistoryRow.detail == detail,
        )
        return self.session.scalar(mine.limit(1)) is not None

    def _insert_row(self) -> None:
        """Insert the text's row unless it exists."""
        is_sqlite = self.session.get_bind().dialect.name == "sqlite"
        insert = (sqlite if is_sqlite else postgresql).insert(TextRow)
        nothing = {"reader": "", "procedures": 0, "approved": 0, "doubts": 0, "was_approved": False}
        values = insert.values(text_hash=self.hash, updated_at=datetime.now(UTC), **nothing)
        self.session.execute(values.on_conflict_do_nothing())


def _audit_summary(
    readings: Mapping[Reader, Reading], approved: Sequence[ApprovedProcedure]
) -> dict[str, object] | None:
    """Return numbers and a hash of what is served; None if nothing is."""
    now = merge_served(readings, approved)
    if now is None:
        return None
    text = json.dumps(as_json(now.reading), sort_keys=True)
    kinds = [each.kind for each in now.approvals if each]
    return {
        "reader": now.reading.reader.value,
        "procedures": len(now.reading.procedures),
        "approved": len(kinds),
        "checklists": kinds.count(ApprovalKind.CHECKLIST),
        "content": hashlib.sha256(text.encode()).hexdigest()[:16],
    }


@lru_cache(maxsize=_CACHED_READINGS)
def reading_of(stored: str) -> Reading:
    """Parse a stored reading; cached by its JSON."""
    return Reading.model_validate_json(stored)


@lru_cache(maxsize=_CACHED_READINGS)
def served_alone(stored: str) -> ServedReading | None:
    """Return what is served of a text with no better reading and no approval; cached."""
    reading = Reading.model_validate_json(stored)
    return merge_served({reading.reader: reading}, ())


def ticket_doubt(row: TicketDoubtRow) -> TicketDoubt:
    """Return a ticket's doubt from its row."""
    fields = {name: getattr(row, name) for name in TicketDoubt.model_fields}
    return TicketDoubt(**fields)
