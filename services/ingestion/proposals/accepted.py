"""Accepted pages as a root of documents: their readings are approved before they are ingested."""

from functools import partial

from sqlalchemy import ColumnElement, select, update

from services.contracts.proposals import ProposalOrigin, ProposalState
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.roots.scan import RootEntry, RootScan
from services.ingestion.tables import ProposalRow
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.kit.sql.database import Database
from services.knowledge.document.page_origin import COMPOSED, LEARNED_FROM
from services.runbook.model import Reader, Reading
from services.runbook.ports import Happening


class AcceptedPages:
    """Root made of the accepted proposals; whatever it does may be repeated."""

    def __init__(self, database: Database, maintenance: ReadingMaintenance) -> None:
        self._database = database
        self._maintenance = maintenance

    def scan(self) -> RootScan:
        """Scan the accepted pages as documents to be read, once their readings are approved.

        Readings come before their pages, so that no ticket finds a page that nobody vouches for.
        """
        scan = RootScan()
        for row in self._rows(ProposalRow.state == ProposalState.ACCEPTED.value):
            if not row.is_vouched:
                self._vouch(row)
            data, is_learned = row.text.encode(), row.origin == ProposalOrigin.LEARNED
            marks = {LEARNED_FROM: str(len(row.runs))} if is_learned else {COMPOSED: "yes"}
            read = partial(bytes, data)
            scan.entries.append(RootEntry(row.document_id, row.text_hash, len(data), read, marks))
        return scan

    def forget_left(self) -> None:
        """Forget the readings of withdrawn and expired pages, once no store has the pages."""
        is_left = ProposalRow.state != ProposalState.ACCEPTED.value
        for row in self._rows(is_left & (ProposalRow.kept_hash != "")):
            self._maintenance.forget([row.kept_hash], [row.document_id])
            self._update(row, kept_hash="")

    def _rows(self, condition: ColumnElement[bool]) -> list[ProposalRow]:
        statement = select(ProposalRow).where(condition).order_by(ProposalRow.document_id)
        with self._database.session() as session:
            return list(session.scalars(statement))

    def _vouch(self, row: ProposalRow) -> None:
        """Store the reading as the person's and approve it in their name."""
        store, reading = self._maintenance.store, Reading.model_validate(row.reading)
        with acting_as(Caller(row.decided_by, CallerKind(row.decided_kind), row.decided_by_id)):
            approved = [each.procedure for each in store.approved(row.text_hash)]
            if any(each not in approved for each in reading.procedures):
                served = store.served(row.text_hash)
                is_there = (
                    served is not None
                    and served.reading.reader is Reader.PERSON
                    and served.reading.procedures == reading.procedures
                )
                if not is_there:
                    store.replace(
                        row.text_hash,
                        reading,
                        who=row.decided_by,
                        what=Happening.REPLACED,
                        detail=f"proposed page {row.id}",
                    )
                store.approve(row.text_hash, reading.procedures, who=row.decided_by)
        self._update(row, is_vouched=True)

    def _update(self, row: ProposalRow, **values: str | bool) -> None:
        with self._database.session() as session:
            mine = update(ProposalRow).where(ProposalRow.id == row.id)
            session.execute(mine.values(values))
