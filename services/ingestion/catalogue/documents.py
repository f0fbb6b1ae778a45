"""The ingested documents as people look for them: by root, folder, id and title."""

from collections import Counter
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select

from services.contracts.ingestion import DocumentQuery, Folder, IngestedDocument, Ownership
from services.ingestion.catalogue.owners import Owners, owner_among
from services.ingestion.tables import IngestedRow
from services.kit.sql.database import Database
from services.knowledge.ports import DocumentNotFoundError


class Catalogue:
    """Reads what the ledger wrote; documents that a killed job left half-written are left out."""

    def __init__(self, database: Database, pipeline: str) -> None:
        """`pipeline` tells which documents are outdated."""
        self._database = database
        self._pipeline = pipeline
        self.owners = Owners(database)

    def documents(self, query: DocumentQuery) -> list[IngestedDocument]:
        """See `Ingestion.documents`."""
        statement = (
            _of(select(IngestedRow), query.root, query.under)
            .where(IngestedRow.document_id > query.after, *_said(query.text))
            .order_by(IngestedRow.document_id)
            .limit(query.limit)
        )
        owners = self.owners.all()
        with self._database.session() as session:
            return [self._shown(row, owners) for row in session.scalars(statement)]

    def document(self, document_id: str) -> IngestedDocument:
        """One of them.

        Raises:
            DocumentNotFoundError: No such document.
        """
        with self._database.session() as session:
            row = session.get(IngestedRow, document_id)
        if row is None or not row.content_hash:
            raise DocumentNotFoundError(f"no document has the id {document_id!r}")
        return self._shown(row, self.owners.all())

    def folders(self, root: str, under: str) -> list[Folder]:
        """See `Ingestion.folders`."""
        statement = _of(select(IngestedRow.document_id), root, under)
        with self._database.session() as session:
            below = (id_[len(under) :] for id_ in session.scalars(statement))
            counted = Counter(rest.split("/", 1)[0] for rest in below if "/" in rest)
        return [
            Folder(path=f"{under}{name}/", documents=number)
            for name, number in sorted(counted.items())
        ]

    def _shown(self, row: IngestedRow, owners: list[Ownership]) -> IngestedDocument:
        return IngestedDocument(
            id=row.document_id,
            title=row.title,
            media_type=row.media_type,
            source=row.source,
            chunks=len(row.chunk_ids),
            nodes=len(row.node_ids),
            updated_at=row.updated_at,
            text_hash=row.text_hash,
            is_outdated=row.pipeline != self._pipeline,
            owner=owner_among(owners, row.source, row.document_id),
        )


def _of(statement: Select[Any], root: str, under: str) -> Select[Any]:
    statement = statement.where(IngestedRow.content_hash != "")
    if root:
        statement = statement.where(IngestedRow.source == root)
    if under:
        statement = statement.where(IngestedRow.document_id.startswith(under, autoescape=True))
    return statement


def _said(text: str) -> list[ColumnElement[bool]]:
    columns = (IngestedRow.document_id, IngestedRow.title)
    return [
        or_(*(func.lower(column).contains(word, autoescape=True) for column in columns))
        for word in text.lower().split()
    ]
