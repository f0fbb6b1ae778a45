"""Adapter of `DocumentStore` on a SQL table."""

from collections.abc import Sequence

from sqlalchemy import delete, false, or_, select

from services.kit.batches import batches
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
        return _document(row) if row is not None else None

    def get_many(self, document_ids: Sequence[str]) -> dict[str, Document]:
        """See `DocumentStore.get_many`."""
        found: dict[str, Document] = {}
        with self._database.session() as session:
            for some in batches(document_ids):
                rows = session.scalars(select(DocumentRow).where(DocumentRow.id.in_(some)))
                found |= {row.id: _document(row) for row in rows}
        return found

    def delete(self, document_id: str) -> None:
        """See `DocumentStore.delete`."""
        with self._database.session() as session:
            session.execute(delete(DocumentRow).where(DocumentRow.id == document_id))

    def ids_with(self, parts: Sequence[str]) -> list[str]:
        """See `DocumentStore.ids_with`: SQLite knows the case of ASCII alone."""
        statement = select(DocumentRow.id)
        if all(part.isascii() for part in parts):
            said = (DocumentRow.id.icontains(part, autoescape=True) for part in parts)
            statement = statement.where(or_(false(), *said))
        with self._database.session() as session:
            return list(session.scalars(statement))

    def hashes(self) -> dict[str, str]:
        """See `DocumentStore.hashes`."""
        with self._database.session() as session:
            rows = session.execute(select(DocumentRow.id, DocumentRow.content_hash))
            return dict(rows.tuples().all())


def _document(row: DocumentRow) -> Document:
    return Document(**{field: getattr(row, field) for field in Document.model_fields})
