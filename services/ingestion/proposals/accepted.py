"""Accepted pages as a root of documents: their readings approved first, then they are found."""

from collections.abc import Callable

from sqlalchemy import ColumnElement, select, update

from services.contracts.proposals import ProposalOrigin, ProposalState
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.roots.scan import Entry, Scan
from services.ingestion.tables import ProposalRow
from services.kit.access.caller import Caller, Kind, acting_as
from services.kit.sql.database import Database
from services.knowledge.document.page_origin import COMPOSED, LEARNED_FROM
from services.knowledge.ports import DocumentStore
from services.procedure.model import Reader, Reading
from services.procedure.ports import Happening, ReadingStore
from services.procedure.store.sql_boxes import SqlBoxStore


class AcceptedPages:
    """What the table of proposals says is accepted; whatever it does may be done again."""

    def __init__(
        self, database: Database, documents: DocumentStore, reading_store: ReadingStore
    ) -> None:
        self._database = database
        self._reading_store = reading_store
        self._maintenance = ReadingMaintenance.of(
            reading_store, SqlBoxStore(database), Ledger(database), documents
        )

    def scan(self) -> Scan:
        """The accepted pages as documents to be read, once their readings stand approved.

        Readings come before their pages, so that no ticket finds a page that nobody vouches for.
        """
        scan = Scan()
        for row in self._rows(ProposalRow.state == ProposalState.ACCEPTED.value):
            if not row.is_vouched:
                self._vouch(row)
            scan.entries.append(_entry(row))
        return scan

    def forget_left(self) -> None:
        """Forget the readings of pages that were taken out, once no store has the pages."""
        is_left = ProposalRow.state != ProposalState.ACCEPTED.value
        for row in self._rows(is_left & (ProposalRow.kept_hash != "")):
            self._maintenance.forget([row.kept_hash], [row.document_id])
            self._note(row, kept_hash="")

    def _rows(self, condition: ColumnElement[bool]) -> list[ProposalRow]:
        statement = select(ProposalRow).where(condition).order_by(ProposalRow.document_id)
        with self._database.session() as session:
            return list(session.scalars(statement))

    def _vouch(self, row: ProposalRow) -> None:
        """Store the reading as the person's and approve it in their name."""
        reading = Reading.model_validate(row.reading)
        with acting_as(Caller(row.decided_by, Kind(row.decided_kind), row.decided_by_id)):
            known = self._reading_store.approved(row.text_hash)
            approved = [each.procedure for each in known]
            if any(each not in approved for each in reading.procedures):
                self._replace(row, reading)
                self._reading_store.approve(row.text_hash, reading.procedures, who=row.decided_by)
        self._note(row, is_vouched=True)

    def _replace(self, row: ProposalRow, reading: Reading) -> None:
        served = self._reading_store.served(row.text_hash)
        is_there = (
            served is not None
            and served.reading.reader is Reader.PERSON
            and served.reading.procedures == reading.procedures
        )
        if not is_there:
            self._reading_store.replace(
                row.text_hash,
                reading,
                who=row.decided_by,
                what=Happening.REPLACED,
                detail=f"proposed page {row.id}",
            )

    def _note(self, row: ProposalRow, **values: str | bool) -> None:
        with self._database.session() as session:
            mine = update(ProposalRow).where(ProposalRow.id == row.id)
            session.execute(mine.values(values))


def _entry(row: ProposalRow) -> Entry:
    data = row.text.encode()
    return Entry(row.document_id, row.text_hash, len(data), _reading(data), _marks(row))


def _reading(data: bytes) -> Callable[[], bytes]:
    return lambda: data


def _marks(row: ProposalRow) -> dict[str, str]:
    if row.origin == ProposalOrigin.LEARNED:
        return {LEARNED_FROM: str(len(row.runs))}
    return {COMPOSED: "yes"}
