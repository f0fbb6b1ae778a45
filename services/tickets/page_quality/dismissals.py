"""Dismissals of findings: who said that one is all right, and why."""

import time
from collections.abc import Iterable, Iterator

from sqlalchemy import delete, select

from services.contracts.coverage import PageFinding
from services.contracts.ingestion import Ingestion
from services.kit.access.audit import add_audit
from services.kit.access.caller import current_caller
from services.kit.batches import batches
from services.kit.sql.database import Database
from services.tickets.page_quality.documents import all_documents
from services.tickets.tables import DismissalRow, PageWordRow

_TABLES_OF_PAGES = (DismissalRow, PageWordRow)


class Dismissals:
    """Dismissals by the key of a finding; each goes with its page."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def annotate(self, findings: Iterable[PageFinding]) -> Iterator[PageFinding]:
        """Yield the findings, each with who dismissed it and why, if somebody did."""
        with self._database.session() as session:
            dismissals = {
                row.key: (row.by, row.why) for row in session.scalars(select(DismissalRow))
            }
        for each in findings:
            by, why = dismissals.get(each.key, ("", ""))
            yield each.model_copy(update={"dismissed_by": by, "why": why})

    def add(self, finding: PageFinding, why: str) -> PageFinding:
        """Store the caller's dismissal in place of an earlier one."""
        by = current_caller().name[:200]
        values = {"why": why, "by": by, "at": time.time()}
        row = self._database.insert(DismissalRow).values(
            key=finding.key, document_id=finding.document_id, **values
        )
        with self._database.session() as session:
            session.execute(row.on_conflict_do_update(index_elements=["key"], set_=values))
            facts = {"finding": finding.key, "kind": finding.kind.value}
            add_audit(session, "finding.dismissed", f"document {finding.document_id}", after=facts)
        return finding.model_copy(update={"dismissed_by": by, "why": why})

    def remove(self, key: str) -> None:
        """Delete a dismissal; do nothing if there is none."""
        mine = delete(DismissalRow).where(DismissalRow.key == key)
        with self._database.session() as session:
            document_id = session.scalar(mine.returning(DismissalRow.document_id))
            if document_id is not None:
                facts = {"finding": key}
                add_audit(session, "finding.restored", f"document {document_id}", before=facts)

    def forget_gone(self, ingestion: Ingestion) -> None:
        """Delete what was said of pages that are gone.

        Raises:
            UnavailableError: Ingestion did not answer: nothing is deleted.
        """
        with self._database.session() as session:
            documents = {
                document
                for table in _TABLES_OF_PAGES
                for document in session.scalars(select(table.document_id))
            }
        if not documents:
            return
        gone = documents - {each.id for each in all_documents(ingestion)}
        with self._database.session() as session:
            for some in batches(sorted(gone)):
                for table in _TABLES_OF_PAGES:
                    session.execute(delete(table).where(table.document_id.in_(some)))
