"""What people said of findings: that they are all right, and why."""

import time
from collections.abc import Iterable, Iterator

from sqlalchemy import delete, select

from services.contracts.coverage import PageFinding
from services.contracts.ingestion import Ingestion
from services.gateway.coverage.documents import all_documents
from services.gateway.tables import DismissedRow, PageWordRow
from services.kit.access.audit import add_audit
from services.kit.access.caller import current_caller
from services.kit.batches import batches
from services.kit.sql.database import Database

_SAID_OF_PAGES = (DismissedRow, PageWordRow)


class Dismissals:
    """By the key of a finding; each goes with its page."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def said_of(self, findings: Iterable[PageFinding]) -> Iterator[PageFinding]:
        """The findings, each with who said that it is all right, where somebody did."""
        with self._database.session() as session:
            said = {row.key: (row.by, row.why) for row in session.scalars(select(DismissedRow))}
        for each in findings:
            by, why = said.get(each.key, ("", ""))
            yield each.model_copy(update={"dismissed_by": by, "why": why})

    def add(self, found: PageFinding, why: str) -> PageFinding:
        """Keep what the caller says; what was said of it before goes."""
        by = current_caller().name[:200]
        said = {"why": why, "by": by, "at": time.time()}
        row = self._database.insert(DismissedRow).values(
            key=found.key, document_id=found.document_id, **said
        )
        with self._database.session() as session:
            session.execute(row.on_conflict_do_update(index_elements=["key"], set_=said))
            told = {"finding": found.key, "kind": found.kind.value}
            add_audit(session, "finding.dismissed", f"document {found.document_id}", after=told)
        return found.model_copy(update={"dismissed_by": by, "why": why})

    def take_back(self, key: str) -> None:
        """Forget what was said; nothing where nothing was."""
        mine = delete(DismissedRow).where(DismissedRow.key == key)
        with self._database.session() as session:
            document_id = session.scalar(mine.returning(DismissedRow.document_id))
            if document_id is not None:
                told = {"finding": key}
                add_audit(session, "finding.restored", f"document {document_id}", before=told)

    def forget_gone(self, ingestion: Ingestion) -> None:
        """Forget what was said of pages that are gone.

        Raises:
            UnavailableError: Ingestion did not answer: nothing is forgotten.
        """
        with self._database.session() as session:
            documents = {
                document
                for table in _SAID_OF_PAGES
                for document in session.scalars(select(table.document_id))
            }
        if not documents:
            return
        gone = documents - {each.id for each in all_documents(ingestion)}
        with self._database.session() as session:
            for some in batches(sorted(gone)):
                for table in _SAID_OF_PAGES:
                    session.execute(delete(table).where(table.document_id.in_(some)))
