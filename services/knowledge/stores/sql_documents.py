"""Adapter of `DocumentStore` on a SQL table."""

from sqlalchemy import delete, select

from services.kit.sql.database import Database
from services.knowledge.model import Document
from services.knowledge.tables import DocumentRow


class SqlDocumentStore:
    """One row per document."""

    def __init__(self, database: Database) -> None:
        """The table must exist: `database.migrate("knowledge")`."""
        self._database = database

    def put(self, document: Document) -> None:
        """See `DocumentStore.put`."""
        with self._database.session() as session:
            session.merge(DocumentRow(**document.model_dump()))

    def get(self, document_id: str) -> Document | None:
        """See `DocumentStore.get`."""
        with self._database.session() as session:
            row = session.get(DocumentRow, document_id)
        if row is None:
            return None
        return Document(**{field: getattr(row, field) for field in Document.model_fields})

    def delete(self, document_id: str) -> None:
        """See `DocumentStore.delete`."""
        with self._database.session() as session:
            session.execute(delete(DocumentRow).where(DocumentRow.id == document_id))

    def hashes(self) -> dict[str, str]:
        """See `DocumentStore.hashes`."""
        with self._database.session() as session:
            rows = session.execute(select(DocumentRow.id, DocumentRow.content_hash))
            return dict(rows.tuples().all())
