"""Catalogue of the ingested documents: by root, folder, id and title."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sqlalchemy import Select, func, or_, select

from services.contracts.ingestion import (
    ANY_DOCUMENT,
    DocumentContents,
    DocumentPlace,
    DocumentQuery,
    Folder,
    ForgetRequest,
    IngestedDocument,
    IngestedRoot,
    LinkQuery,
    Ownership,
    RemovalCost,
)
from services.contracts.proposals import ACCEPTED_PAGES
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.catalogue.owners import Owners, owner_among
from services.ingestion.catalogue.roots import Roots
from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.tables import IngestedRow
from services.kit.errors import InvalidInputError
from services.kit.sql.database import Database
from services.knowledge.document.links import linked_documents
from services.knowledge.model import Document, IncidentNode
from services.knowledge.naming import find_document
from services.knowledge.ports import DocumentNotFoundError, DocumentStore, GraphStore
from services.runbook.ports import BoxSource, ReadingStore


class CatalogueService:
    """Reader of the ledger's rows; documents that a killed job left half-written are left out."""

    def __init__(
        self,
        *,
        database: Database,
        owners: Owners,
        ledger: Ledger,
        roots: Roots,
        structure: Pipeline,
        documents: DocumentStore,
        graph: GraphStore,
        reading_store: ReadingStore,
        boxes: BoxSource,
    ) -> None:
        """Use `structure` to cut a document into the chunks that are shown."""
        self._database = database
        self._ledger = ledger
        self._roots = roots
        self._structure = structure
        self._documents = documents
        self._graph = graph
        self._reading_store = reading_store
        self._boxes = boxes
        self._owners = owners

    def root_here(self, path: str) -> IngestedRoot:
        """Return the root that a path on this machine refers to; the path itself may be gone.

        What the path says comes before where it leads: a link in the place of a folder that was
        moved must not stand for the folder's new place.

        Raises:
            RootNotFoundError: No document came from there.
        """
        if path == ACCEPTED_PAGES:
            return self._roots.find(path)
        return self._roots.find(path, os.path.normpath(Path.cwd() / path), os.path.realpath(path))

    def removal_cost(self, request: ForgetRequest) -> RemovalCost:
        """See `Ingestion.removal_cost`.

        Approved procedures of a text that documents of other roots have too are not lost.
        """
        root = self._roots.removable(request.root, request.document)
        texts = (
            self._ledger.text_hashes([request.document])
            if request.document
            else self._ledger.text_hashes(source=root.path)
        )
        hashes = list(dict.fromkeys(filter(None, texts.values())))
        having = self._ledger.with_texts(hashes)
        lost = [each for each in hashes if texts.keys() >= set(having.get(each, ()))]
        readings = self._reading_store.summaries(lost).values()
        return RemovalCost(documents=len(texts), approved=sum(each.approved for each in readings))

    def documents(self, query: DocumentQuery = ANY_DOCUMENT) -> list[IngestedDocument]:
        """See `Ingestion.documents`."""
        columns = (IngestedRow.document_id, IngestedRow.title)
        has_words = [
            or_(*(func.lower(column).contains(word, autoescape=True) for column in columns))
            for word in query.text.lower().split()
        ]
        statement = (
            _below(select(IngestedRow), query.root, query.under)
            .where(IngestedRow.document_id > query.after, *has_words)
            .order_by(IngestedRow.document_id)
            .limit(query.limit)
        )
        owners = self._owners.all()
        with self._database.session() as session:
            return [self._entry(row, owners) for row in session.scalars(statement)]

    def folders(self, *, root: str = "", under: str = "") -> list[Folder]:
        """See `Ingestion.folders`."""
        statement = _below(select(IngestedRow.document_id), root, under)
        with self._database.session() as session:
            below = (id_[len(under) :] for id_ in session.scalars(statement))
            counted = Counter(rest.split("/", 1)[0] for rest in below if "/" in rest)
        return [
            Folder(path=f"{under}{name}/", documents=number)
            for name, number in sorted(counted.items())
        ]

    def document(self, document_id: str) -> Document:
        """See `Ingestion.document`."""
        document = find_document(self._documents, document_id)
        if document is None:
            raise _not_found(document_id)
        return document.for_person()

    def linked(self, query: LinkQuery) -> dict[str, str]:
        """See `Ingestion.linked`."""
        return linked_documents(query.links, query.document_id, self._documents.ids_with)

    def contents(self, document_id: str) -> DocumentContents:
        """See `Ingestion.contents`."""
        document = self._documents.get(document_id)
        if document is None:
            raise _not_found(document_id)
        with self._database.session() as session:
            row = session.get(IngestedRow, document_id)
        if row is None or not row.content_hash:
            raise _not_found(document_id)
        chunks = [
            DocumentPlace(
                id=chunk.id,
                name=" › ".join(chunk.heading_path),
                start_line=chunk.span.start_line,
                end_line=chunk.span.end_line,
            )
            for chunk in self._structure.split(document)
        ]
        return DocumentContents(
            document=self._entry(row, self._owners.all()),
            lines=tuple(document.for_person().text.split("\n")),
            chunks=tuple(chunks),
            nodes=_places_of_nodes(self._graph.of_documents([document_id]), document_id),
            withheld=document.withheld,
            boxes=self._boxes.corrections([document_id]).get(document_id, {}),
            box_habit=dict(self._boxes.habit()),
        )

    def set_owner(self, ownership: Ownership) -> list[Ownership]:
        """See `Ingestion.set_owner`."""
        # An entry of a root that is gone may go.
        is_named = ownership.root and ownership.team.strip()
        if is_named and ownership.root not in {each.path for each in self._roots.all()}:
            raise InvalidInputError(
                f"no document came from {ownership.root[:200]!r}: name one of the roots that "
                "/v1/roots lists"
            )
        return self._owners.put(ownership)

    def _entry(self, row: IngestedRow, owners: list[Ownership]) -> IngestedDocument:
        return IngestedDocument(
            id=row.document_id,
            title=row.title,
            media_type=row.media_type,
            source=row.source,
            chunks=len(row.chunk_ids),
            nodes=len(row.node_ids),
            updated_at=row.updated_at,
            text_hash=row.text_hash,
            is_outdated=row.pipeline != self._structure.version,
            owner=owner_among(owners, row.source, row.document_id),
        )


def _not_found(document_id: str) -> DocumentNotFoundError:
    return DocumentNotFoundError(f"no document has the id {document_id!r}")


def _below(statement: Select[Any], root: str, under: str) -> Select[Any]:
    statement = statement.where(IngestedRow.content_hash != "")
    if root:
        statement = statement.where(IngestedRow.source == root)
    if under:
        statement = statement.where(IngestedRow.document_id.startswith(under, autoescape=True))
    return statement


def _places_of_nodes(nodes: Iterable[IncidentNode], document_id: str) -> tuple[DocumentPlace, ...]:
    """Return the places of merged nodes, by the lines of this document that they know."""
    places = []
    for node in nodes:
        spans = [p.span for p in node.all_passages() if p.span.document_id == document_id]
        if spans:
            start = min(span.start_line for span in spans)
            end = max(span.end_line for span in spans)
            name = node.name
            places.append(DocumentPlace(id=node.id, name=name, start_line=start, end_line=end))
    return tuple(sorted(places, key=lambda place: place.start_line))
