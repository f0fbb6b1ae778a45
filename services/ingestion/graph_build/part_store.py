"""What models made of the documents, in SQL: the memory that makes building the graph resumable."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import delete, select

from services.ingestion.graph_build.counts import BuildCounts
from services.ingestion.graph_build.document import BuiltPart, UnbuiltPart
from services.ingestion.graph_build.join import joined
from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.tables import BuiltRow, UnbuiltRow
from services.kit.sql.database import Database
from services.knowledge.model import Document, IncidentNode
from services.knowledge.screening.document import text_hash


class PartStore:
    """Reads and writes the rows, one per document: of the text and recipe built last."""

    def __init__(self, database: Database) -> None:
        """The table must exist: `database.migrate("ingestion")`."""
        self._database = database

    def of(self, document: Document) -> BuiltPart | None:
        """What was built of just this text, by whichever model."""
        with self._database.session() as session:
            row = session.get(BuiltRow, document.id)
        return _part(row) if row is not None and row.text_hash == text_hash(document) else None

    def keys(self) -> dict[str, tuple[str, str]]:
        """Hash of the text and recipe, by document."""
        columns = (BuiltRow.document_id, BuiltRow.text_hash, BuiltRow.recipe)
        with self._database.session() as session:
            return {id_: (of, recipe) for id_, of, recipe in session.execute(select(*columns))}

    def failures(self, recipe: str) -> list[UnbuiltPart]:
        """Documents that this recipe made nothing of, the one that was tried last behind."""
        tried = select(UnbuiltRow).where(UnbuiltRow.recipe == recipe)
        with self._database.session() as session:
            rows = session.scalars(tried.order_by(UnbuiltRow.updated_at, UnbuiltRow.document_id))
            return [_unbuilt(row) for row in rows]

    def tallies(self, recipe: str) -> list[BuildCounts]:
        """What the documents built by this recipe have cost."""
        with self._database.session() as session:
            found = session.scalars(select(BuiltRow.tally).where(BuiltRow.recipe == recipe))
            return [BuildCounts.model_validate(each) for each in found]

    def put(self, part: BuiltPart) -> None:
        """Write or replace."""
        row = BuiltRow(**part.model_dump(mode="json"), updated_at=datetime.now(UTC))
        with self._database.session() as session:
            session.merge(row)
            session.execute(delete(UnbuiltRow).where(UnbuiltRow.document_id == part.document_id))

    def put_failure(self, part: UnbuiltPart) -> None:
        """Write or replace."""
        row = UnbuiltRow(**part.model_dump(exclude={"tally"}), updated_at=datetime.now(UTC))
        with self._database.session() as session:
            session.merge(row)

    def with_structure(
        self, document: Document, structural: Sequence[IncidentNode]
    ) -> list[IncidentNode]:
        """The document's nodes: by structure, and by a model where it has read this very text."""
        part = self.of(document)
        return joined(structural, part.nodes if part else ())


def with_built_parts(pipeline: Pipeline, kept: PartStore) -> Pipeline:
    """The same pipeline; its nodes are joined with what a model made of the same text.

    So neither an ingest by newer code nor a reindex loses what was paid for, and a changed text
    takes nothing over from the old one.
    """
    return replace(
        pipeline,
        extract=lambda document: kept.with_structure(document, pipeline.extract(document)),
    )


def _unbuilt(row: UnbuiltRow) -> UnbuiltPart:
    return UnbuiltPart(
        document_id=row.document_id,
        text_hash=row.text_hash,
        recipe=row.recipe,
        reason=row.reason,
        tally=BuildCounts(),
    )


def _part(row: BuiltRow) -> BuiltPart:
    fields = {name: getattr(row, name) for name in BuiltPart.model_fields}
    return BuiltPart.model_validate(fields)
