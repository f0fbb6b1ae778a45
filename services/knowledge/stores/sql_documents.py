"""Adapter of `DocumentStore` on a SQL table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import delete, exists, false, or_, select, update
from sqlalchemy.orm import Session

from services.kit.batches import batches
from services.kit.sql.database import Database
from services.knowledge.model import Document, UsableDocument
from services.knowledge.screening.document import hash_of, screened
from services.knowledge.screening.version import screening_of
from services.knowledge.tables import DocumentRow, SaidRow

_AT_ONCE = 100
_KEPT = 1024
"""Pages of an older screening that are not screened at each use: some 10 MB."""


@dataclass(frozen=True)
class _Raw:
    """A document as the argument of a cache that looks at all of it, but hashes little."""

    document: Document

    def __hash__(self) -> int:
        return hash((self.document.id, self.document.content_hash))


class SqlDocumentStore:
    """One row per document."""

    def __init__(self, database: Database) -> None:
        """The table must exist: `database.migrate("knowledge")`."""
        self._database = database
        self._screen = lru_cache(maxsize=_KEPT)(_screened)

    def put(self, document: Document) -> None:
        """See `DocumentStore.put`."""
        used = _used(document)
        with self._database.session() as session:
            row = session.get(DocumentRow, document.id)
            before = row.text_hash if row else None
            session.merge(DocumentRow(**document.model_dump(), **used))
            if before and before != used["text_hash"]:
                _forget_said(session, before)

    def get(self, document_id: str) -> Document | None:
        """See `DocumentStore.get`."""
        with self._database.session() as session:
            row = session.get(DocumentRow, document_id)
        return _document(row) if row is not None else None

    def usable(self, document_ids: Sequence[str]) -> dict[str, UsableDocument]:
        """See `DocumentStore.usable`."""
        found: dict[str, UsableDocument] = {}
        with self._database.session() as session:
            for some in batches(document_ids):
                rows = session.scalars(select(DocumentRow).where(DocumentRow.id.in_(some)))
                found |= {row.id: self._usable(row) for row in rows}
        return found

    def of_text(self, text_hash: str) -> list[UsableDocument]:
        """See `DocumentStore.of_text`."""
        with self._database.session() as session:
            mine = select(DocumentRow.id).where(DocumentRow.text_hash == text_hash)
            ids = session.scalars(mine.order_by(DocumentRow.id)).all()
        found = self.usable(ids)
        return [found[id_] for id_ in ids if id_ in found]

    def awaits_renewal(self) -> bool:
        """See `DocumentStore.awaits_renewal`."""
        without = select(DocumentRow.id).where(DocumentRow.text_hash.is_(None)).limit(1)
        with self._database.session() as session:
            return session.scalar(without) is not None

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
                    values = _used(_document(row))
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
                _forget_said(session, before)

    def _usable(self, row: DocumentRow) -> UsableDocument:
        document = _document(row)
        if not _is_current(row):
            return self._screen(_Raw(document))
        return _with_text(document, document.text if row.screened is None else row.screened)

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


def _forget_said(session: Session, text_hash: str) -> None:
    """What people say of a text goes with the last document that has it."""
    session.flush()
    has_it = exists().where(DocumentRow.text_hash == text_hash)
    session.execute(delete(SaidRow).where(SaidRow.text_hash == text_hash, ~has_it))


def _is_current(row: DocumentRow) -> bool:
    return row.screening == screening_of(row.text)


def _used(document: Document) -> dict[str, str | None]:
    """The columns that say what is used of it."""
    text = screened(document).document.text
    return {
        "screening": screening_of(document.text),
        "screened": text if text != document.text else None,
        "text_hash": hash_of(text),
    }


def _screened(raw: _Raw) -> UsableDocument:
    return _with_text(raw.document, screened(raw.document).document.text)


def _with_text(document: Document, usable: str) -> UsableDocument:
    """Return the document with the usable text in the place of the stored one."""
    fields = {name: getattr(document, name) for name in Document.model_fields}
    stored = document.text if usable != document.text else ""
    return UsableDocument(**(fields | {"text": usable}), stored_text=stored)


def _document(row: DocumentRow) -> Document:
    return Document(**{field: getattr(row, field) for field in Document.model_fields})
