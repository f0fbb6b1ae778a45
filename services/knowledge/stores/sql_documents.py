"""Adapter of `DocumentStore` on a SQL table."""

from collections.abc import Sequence

from sqlalchemy import delete, exists, false, func, or_, select, update
from sqlalchemy.orm import Session

from services.kit.batches import batches
from services.kit.sql.database import Database
from services.knowledge.model import Document
from services.knowledge.screening.document import ScreenedDocument, screening_id
from services.knowledge.tables import DocumentRow, SymptomTextRow

_AT_ONCE = 100


class SqlDocumentStore:
    """One row per document."""

    def __init__(self, database: Database) -> None:
        """Use the database; its table must exist: `database.migrate("knowledge")`."""
        self._database = database

    def put(self, document: ScreenedDocument) -> None:
        """See `DocumentStore.put`."""
        used = _screening_columns(document)
        with self._database.session() as session:
            row = session.get(DocumentRow, document.id)
            before = row.text_hash if row else None
            session.merge(DocumentRow(**document.for_person().model_dump(), **used))
            if before and before != used["text_hash"]:
                _delete_symptom_texts(session, before)

    def get(self, document_id: str) -> ScreenedDocument | None:
        """See `DocumentStore.get`."""
        with self._database.session() as session:
            row = session.get(DocumentRow, document_id)
        return _document(row) if row is not None else None

    def get_many(self, document_ids: Sequence[str]) -> dict[str, ScreenedDocument]:
        """See `DocumentStore.get_many`."""
        documents: dict[str, ScreenedDocument] = {}
        with self._database.session() as session:
            for some in batches(document_ids):
                rows = session.scalars(select(DocumentRow).where(DocumentRow.id.in_(some)))
                documents |= {row.id: _document(row) for row in rows}
        return documents

    def of_text(self, text_hash: str) -> list[ScreenedDocument]:
        """See `DocumentStore.of_text`."""
        with self._database.session() as session:
            mine = select(DocumentRow.id).where(DocumentRow.text_hash == text_hash)
            ids = session.scalars(mine.order_by(DocumentRow.id)).all()
        by_id = self.get_many(ids)
        return [by_id[id_] for id_ in ids if id_ in by_id]

    def renew(self) -> int:
        """See `DocumentStore.renew`."""
        renewed = 0
        for some in batches(list(self.hashes()), _AT_ONCE):
            with self._database.session() as session:
                rows = session.scalars(select(DocumentRow).where(DocumentRow.id.in_(some)))
                for row in [row for row in rows if not row.text_hash or not _is_current(row)]:
                    is_same = (
                        DocumentRow.id == row.id,
                        DocumentRow.content_hash == row.content_hash,
                    )
                    values = _screening_columns(ScreenedDocument(_whole(row)))
                    session.execute(update(DocumentRow).where(*is_same).values(**values))
                    renewed += 1
        return renewed

    def delete(self, document_id: str) -> None:
        """See `DocumentStore.delete`."""
        with self._database.session() as session:
            mine = DocumentRow.id == document_id
            before = session.scalar(select(DocumentRow.text_hash).where(mine))
            session.execute(delete(DocumentRow).where(mine))
            if before:
                _delete_symptom_texts(session, before)

    def ids_with(self, parts: Sequence[str]) -> list[str]:
        """See `DocumentStore.ids_with`: SQLite knows the case of ASCII alone."""
        statement = select(DocumentRow.id)
        if all(part.isascii() for part in parts):
            conditions = (DocumentRow.id.icontains(part, autoescape=True) for part in parts)
            statement = statement.where(or_(false(), *conditions))
        with self._database.session() as session:
            return list(session.scalars(statement))

    def ids_ending(self, end: str, *, most: int) -> list[str]:
        """See `DocumentStore.ids_ending`."""
        start = func.length(DocumentRow.id) - len(end) + 1
        ends = (start > 0, func.substr(DocumentRow.id, start) == end)
        statement = select(DocumentRow.id).where(*ends).order_by(DocumentRow.id).limit(most)
        with self._database.session() as session:
            return list(session.scalars(statement))

    def hashes(self) -> dict[str, str]:
        """See `DocumentStore.hashes`."""
        with self._database.session() as session:
            rows = session.execute(select(DocumentRow.id, DocumentRow.content_hash))
            return dict(rows.tuples().all())


def _delete_symptom_texts(session: Session, text_hash: str) -> None:
    """Delete the symptom texts of a text that no document has any more."""
    session.flush()
    has_it = exists().where(DocumentRow.text_hash == text_hash)
    session.execute(delete(SymptomTextRow).where(SymptomTextRow.text_hash == text_hash, ~has_it))


def _is_current(row: DocumentRow) -> bool:
    return row.screening == screening_id(row.text)


def _screening_columns(document: ScreenedDocument) -> dict[str, str | None]:
    whole, usable = document.for_person().text, document.for_model().text
    return {
        "screening": screening_id(whole),
        "screened": usable if usable != whole else None,
        "text_hash": document.text_hash,
    }


def _document(row: DocumentRow) -> ScreenedDocument:
    usable = row.text if row.screened is None else row.screened
    return ScreenedDocument(_whole(row), usable if _is_current(row) else None)


def _whole(row: DocumentRow) -> Document:
    return Document(**{field: getattr(row, field) for field in Document.model_fields})
