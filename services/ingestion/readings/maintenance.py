"""Maintenance of readings during an ingest: approvals move with their lines."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import delete, select

from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.metrics import APPROVALS
from services.ingestion.readings.texts import TextIndex
from services.ingestion.tables import ApprovedBlocksRow
from services.kit.batches import batches
from services.kit.errors import UnavailableError
from services.kit.sql.database import Database
from services.knowledge.page.parsing import parse_page
from services.knowledge.ports import DocumentStore
from services.knowledge.screening.document import ScreenedDocument
from services.runbook.carry_over import (
    carry_over_procedures,
    unchanged_lines,
    with_carried_procedures,
)
from services.runbook.model import Reader, Reading
from services.runbook.ports import (
    ApprovedProcedure,
    BoxStore,
    Happening,
    ReadingStore,
    ServedReading,
)
from services.runbook.store.sql_boxes import SqlBoxStore
from services.runbook.store.sql_readings import SqlReadingStore

_log = structlog.get_logger()


class ApprovedBlocks:
    """Keys of the blocks of approved texts, by the hash of the changed text."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, text_hash: str, approved_text: str, *, after: str = "") -> None:
        """Store the blocks of the approved text that this text replaces.

        If the replaced text, whose hash is `after`, lost its approval itself, the blocks that are
        stored for that one are taken.
        """
        with self._database.session() as session:
            earlier = session.get(ApprovedBlocksRow, after) if after else None
            keys = earlier.keys if earlier else sorted(_keys(approved_text))
            session.merge(ApprovedBlocksRow(text_hash=text_hash, keys=keys))

    def changed(self, text_hash: str, text: str) -> tuple[str, ...] | None:
        """Return the keys of blocks that the approved text did not have, in the page's order.

        None if no approved text is known.
        """
        with self._database.session() as session:
            statement = select(ApprovedBlocksRow.keys).where(
                ApprovedBlocksRow.text_hash == text_hash
            )
            approved = session.scalar(statement)
        if approved is None:
            return None
        return tuple(key for key in _keys(text) if key not in set(approved))

    def forget(self, text_hashes: Collection[str]) -> None:
        """Delete what is stored for these texts."""
        with self._database.session() as session:
            for some in batches(text_hashes):
                mine = ApprovedBlocksRow.text_hash.in_(some)
                session.execute(delete(ApprovedBlocksRow).where(mine))


def _keys(text: str) -> dict[str, None]:
    """Return the keys of a page's blocks in their order."""
    return {place.block.key: None for place in parse_page(text).places() if place.block.key}


@dataclass(frozen=True)
class ReadingMaintenance:
    """Upkeep that keeps the readings in line with the documents.

    Errors with one page's approvals are logged: its document is ingested all the same.
    """

    store: ReadingStore
    boxes: BoxStore
    texts: TextIndex
    approved_blocks: ApprovedBlocks

    @classmethod
    def of(
        cls, database: Database, documents: DocumentStore, boxes: BoxStore | None = None
    ) -> "ReadingMaintenance":
        """Build it on the readings, the boxes and the ledger of a database."""
        texts = TextIndex(Ledger(database), documents)
        store, blocks = SqlReadingStore(database), ApprovedBlocks(database)
        return cls(store, boxes or SqlBoxStore(database), texts, blocks)

    def carry_approvals(self, old_hash: str, document: ScreenedDocument) -> list[str]:
        """Carry approvals over from a text to the one that its document is about to have.

        What nobody has approved yet beside them, or a person has read, comes along where it still
        holds. To be done before the document is stored. Returns the titles of the procedures whose
        approval is lost.
        """
        if not old_hash or old_hash == document.text_hash:
            return []
        try:
            text = document.for_model().text
            self._carry_answers(old_hash, document.text_hash, text)
            return self._carry(old_hash, document, text)
        except UnavailableError:
            raise
        except Exception:  # noqa: BLE001 - the entry point of one page's approvals
            _log.exception("ingestion.carry_over_failed", document_id=document.id)
            return []

    def drop(self, text_hashes: Iterable[str]) -> None:
        """Delete texts that no document has any more and nobody has read; the others stay."""
        gone = self._gone(text_hashes)
        self.store.drop(gone)
        self.approved_blocks.forget(gone)

    def forget(self, text_hashes: Iterable[str], leaving: Sequence[str]) -> int:
        """Delete all about texts that only the `leaving` documents have.

        People's corrections of the boxes of these documents go too. Returns how many approved
        procedures were deleted.
        """
        self.boxes.forget(leaving)
        gone = self._gone(text_hashes, leaving)
        self.approved_blocks.forget(gone)
        return self.store.delete(gone)

    def _gone(self, text_hashes: Iterable[str], leaving: Sequence[str] = ()) -> list[str]:
        hashes = [hashed for hashed in dict.fromkeys(text_hashes) if hashed]
        named = self.texts.ledger.with_texts(hashes)
        gone = set(leaving)
        return [hashed for hashed in hashes if gone.issuperset(named.get(hashed, ()))]

    def _carry_answers(self, old_hash: str, new_hash: str, text: str) -> None:
        """Carry over the answers to questions whose blocks the new text has as well."""
        answered = self.store.answered_questions(old_hash)
        if not answered:
            return
        blocks = _keys(text)
        kept = {id_: block for id_, block in answered.items() if block in blocks}
        if kept:
            self.store.carry_answers(new_hash, kept)

    def _carry(self, old_hash: str, document: ScreenedDocument, new: str) -> list[str]:
        recorded = self.store.summaries([old_hash]).get(old_hash)
        was_approved = recorded is not None and (recorded.approved or recorded.was_approved)
        if recorded is None or not (was_approved or recorded.reader is Reader.PERSON):
            return []
        served = self.store.served(old_hash) or ServedReading(reading=Reading(reader=Reader.PERSON))
        procedures, old = served.reading.procedures, self.texts.text(old_hash) or ""
        moved = carry_over_procedures(procedures, old, new)
        each = list(zip(procedures, moved, served.approvals, strict=True))
        carried = [
            ApprovedProcedure(procedure=new_one, approval=approval)
            for _, new_one, approval in each
            if new_one and approval
        ]
        others = {n: new_one for n, (_, new_one, by) in enumerate(each) if new_one and not by}
        lost = [procedure.title for procedure, new_one, by in each if by and not new_one]
        is_changed = recorded.was_approved or (
            recorded.approved > 0 and not all(new_one or by for _, new_one, by in each)
        )
        reading = None
        if others:
            lines = unchanged_lines(old, new)
            reading = with_carried_procedures(served.reading, others, lines)
        if recorded.was_approved:
            events = self.store.history(old_hash)
            lost += [event.detail for event in events if event.what is Happening.FELL_BACK][:1]
        hashed = document.text_hash
        own = self.store.summaries([hashed]).get(hashed)
        if own is not None and own.approved > 0:
            lost, is_changed = [], False
        if not self.store.carry_over(
            hashed, carried, lost=lost, reading=reading, is_changed=is_changed
        ):
            return []
        if lost or is_changed:
            # A change of a text that nobody has approved since is still one of the approved text.
            self.approved_blocks.put(hashed, old, after=old_hash if recorded.was_approved else "")
        APPROVALS.labels("carried_over").inc(len(carried))
        APPROVALS.labels("lost").inc(len(lost))
        if lost:
            _log.warning("ingestion.approval_lost", document_id=document.id, procedures=lost)
        return lost
