"""One text's rows in a transaction that no other one can come between."""

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
from services.procedure.model import Procedure, Reader, Reading, as_json
from services.procedure.ports import (
    Approval,
    ApprovedProcedure,
    Happening,
    ReadingNotFoundError,
    ServedReading,
    TicketDoubt,
)
from services.procedure.serving import served
from services.procedure.tables import (
    ApprovalRow,
    HistoryRow,
    ReadingRow,
    TextRow,
    TicketDoubtRow,
)
from services.procedure.ticket_doubts import doubt_id, with_ticket_doubts

Snapshot = dict[str, Any]
"""What people said of a text, as JSON: what undoing brings back."""

_REMEMBERED = 512
"""Readings kept as objects: some 20 MB."""
_OF_PEOPLE = (Reader.PERSON, Reader.IMPORTED)


class OneText:
    """Locked from its making to the end of the transaction, which `done` ends."""

    def __init__(self, session: Session, text_hash: str, *, is_new_allowed: bool) -> None:
        """Takes the lock.

        Raises:
            ReadingNotFoundError: Nobody has read the text, and it is not to be made.
        """
        self.session = session
        self.hash = text_hash
        if is_new_allowed:
            self._make()
        mine = update(TextRow).where(TextRow.text_hash == text_hash)
        locked = session.execute(mine.values(text_hash=text_hash)).rowcount  # type: ignore[attr-defined]
        if not locked:
            raise ReadingNotFoundError(f"nobody has read a text with the hash {text_hash!r}")
        self.row = session.get_one(TextRow, text_hash, populate_existing=True)
        self.readings = {
            Reader(row.reader): Reading.model_validate(row.reading) for row in self._rows
        }
        self.approved = _approvals_of(self._approval_rows)
        self._at_first = dict(self.readings), self.approved
        self.ticket_rows: Sequence[TicketDoubtRow] = ()
        self._look_for_doubts()

    def snapshot(self) -> Snapshot:
        """What people said of it until now."""
        found: Snapshot = {
            reader.value: as_json(self.readings[reader]) if reader in self.readings else None
            for reader in _OF_PEOPLE
        }
        approved = [each.model_dump(mode="json") for each in self.approved]
        for row, each in zip(approved, self.approved, strict=True):
            row["procedure"] = as_json(each.procedure)
        settled = [[row.ticket, row.step] for row in self.ticket_rows if row.settled]
        was = {"approved": approved, "was_approved": self.row.was_approved}
        return {**found, **was, "settled": settled}

    def restore(self, snapshot: Snapshot) -> None:
        """Make what people said of it what it was."""
        for reader in _OF_PEOPLE:
            before = snapshot[reader.value]
            if before is None:
                self.remove(reader)
            else:
                self.keep(Reading.model_validate(before))
        self.set_approved([ApprovedProcedure.model_validate(row) for row in snapshot["approved"]])
        self.row.was_approved = snapshot["was_approved"]
        for row in self.ticket_rows:
            row.settled = [row.ticket, row.step] in snapshot.get("settled", [])

    def add(self, doubt: TicketDoubt) -> None:
        """Keep what a ticket finds wrong, open."""
        fields = doubt.model_dump() | {"by": doubt.by[:200], "text_hash": self.hash}
        self.session.merge(TicketDoubtRow(**fields, settled=False))
        self._look_for_doubts()

    def forget_doubts(self, tickets: Collection[str], step: str) -> None:
        """Take out what these tickets find wrong, of one step or of all."""
        for row in self.ticket_rows:
            if row.ticket in tickets and step in {"", row.step}:
                self.session.delete(row)
        self._look_for_doubts()

    def _look_for_doubts(self) -> None:
        self.session.flush()
        mine = TicketDoubtRow.text_hash == self.hash
        self.ticket_rows = self.session.scalars(select(TicketDoubtRow).where(mine)).all()

    def settle(self, doubts: Collection[str]) -> None:
        """A person has said what is so about these doubts of tickets."""
        for row in self.ticket_rows:
            if doubt_id(ticket_doubt(row)) in doubts:
                row.settled = True

    def served(self) -> ServedReading | None:
        """What is served of it now, with what tickets find wrong."""
        now = served(self.readings, self.approved)
        waiting = [ticket_doubt(row) for row in self.ticket_rows if not row.settled]
        return with_ticket_doubts(now, waiting) if now else None

    def keep(self, reading: Reading) -> None:
        """Put a reading into the place of the same reader's last one."""
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
        """Forget what a reader made of it."""
        self.readings.pop(reader, None)
        self.session.execute(
            delete(ReadingRow).where(
                ReadingRow.text_hash == self.hash, ReadingRow.reader == reader.value
            )
        )

    def set_approved(self, approved: Sequence[ApprovedProcedure]) -> None:
        """Make these what is approved, in their order."""
        self.approved = list(approved)
        self.session.execute(delete(ApprovalRow).where(ApprovalRow.text_hash == self.hash))
        self.session.add_all(
            ApprovalRow(
                text_hash=self.hash,
                procedure=as_json(each.procedure),
                who=each.approval.by,
                at=each.approval.at,
            )
            for each in approved
        )

    def note(
        self, who: str, what: Happening, detail: str = "", before: Snapshot | None = None
    ) -> None:
        """Add to the history, and to the audit log what people or their documents change.

        What has a `before` can be undone.
        """
        if what is not Happening.READ:
            now = _told(self.readings, self.approved)
            action = f"reading.{what.value.replace(' ', '_')}"
            add_audit(self.session, action, f"text {self.hash}", _told(*self._at_first), now)
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

    def done(self) -> None:
        """Bring the numbers of what is served up to date; nobody is the reader of nothing."""
        now = self.served()
        self.row.reader = now.reading.reader.value if now else ""
        self.row.procedures = len(now.reading.procedures) if now else 0
        self.row.approved = sum(each is not None for each in now.approvals) if now else 0
        self.row.doubts = len(now.reading.doubts) if now else 0
        self.row.updated_at = datetime.now(UTC)
        self.row.prepared = None

    def was_told(self, what: Happening, detail: str) -> bool:
        """Whether just this is in the history."""
        mine = select(HistoryRow.id).where(
            HistoryRow.text_hash == self.hash,
            HistoryRow.what == what.value,
            HistoryRow.detail == detail,
        )
        return self.session.scalar(mine.limit(1)) is not None

    def _make(self) -> None:
        """Unless it is there."""
        is_sqlite = self.session.get_bind().dialect.name == "sqlite"
        insert = (sqlite if is_sqlite else postgresql).insert(TextRow)
        nothing = {"reader": "", "procedures": 0, "approved": 0, "doubts": 0, "was_approved": False}
        values = insert.values(text_hash=self.hash, updated_at=datetime.now(UTC), **nothing)
        self.session.execute(values.on_conflict_do_nothing())

    @property
    def _rows(self) -> Sequence[ReadingRow]:
        mine = select(ReadingRow).where(ReadingRow.text_hash == self.hash)
        return self.session.scalars(mine).all()

    @property
    def _approval_rows(self) -> Sequence[ApprovalRow]:
        mine = select(ApprovalRow).where(ApprovalRow.text_hash == self.hash)
        return self.session.scalars(mine.order_by(ApprovalRow.id)).all()


def _told(
    readings: Mapping[Reader, Reading], approved: Sequence[ApprovedProcedure]
) -> dict[str, object] | None:
    """What is served, in numbers and by a hash; None where nothing is."""
    now = served(readings, approved)
    if now is None:
        return None
    text = json.dumps(as_json(now.reading), sort_keys=True)
    return {
        "reader": now.reading.reader.value,
        "procedures": len(now.reading.procedures),
        "approved": sum(each is not None for each in now.approvals),
        "content": hashlib.sha256(text.encode()).hexdigest()[:16],
    }


@lru_cache(maxsize=_REMEMBERED)
def reading_of(stored: str) -> Reading:
    """A reading from its column, remembered by all that stands there."""
    return Reading.model_validate_json(stored)


@lru_cache(maxsize=_REMEMBERED)
def served_alone(stored: str) -> ServedReading | None:
    """What is served of a text that has nothing better than this reading, and no approval."""
    reading = Reading.model_validate_json(stored)
    return served({reading.reader: reading}, ())


@lru_cache(maxsize=_REMEMBERED)
def procedure_of(stored: str) -> Procedure:
    """The same of an approved procedure."""
    return Procedure.model_validate_json(stored)


def ticket_doubt(row: TicketDoubtRow) -> TicketDoubt:
    """What a ticket finds wrong."""
    fields = {name: getattr(row, name) for name in TicketDoubt.model_fields}
    return TicketDoubt(**fields)


def _approvals_of(rows: Sequence[ApprovalRow]) -> list[ApprovedProcedure]:
    """What is approved of one text."""
    return [
        ApprovedProcedure(
            procedure=Procedure.model_validate(row.procedure),
            approval=Approval(by=row.who, at=row.at),
        )
        for row in rows
    ]
