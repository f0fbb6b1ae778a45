"""Store of the parts that models built, in SQL: it makes building the graph resumable."""

from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import delete, select

from services.ingestion.graph_build.document import BuiltPart, UnbuiltPart
from services.ingestion.graph_build.estimate import BuildCounts
from services.ingestion.graph_build.incidents import add_model_nodes
from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.tables import BuiltRow, UnbuiltRow
from services.kit.sql.database import Database
from services.knowledge.model import IncidentNode
from services.knowledge.screening.document import ScreenedDocument


class PartStore:
    """Store of one row per document: of the text and recipe built last."""

    def __init__(self, database: Database) -> None:
        """Use the tables that `database.migrate("ingestion")` makes."""
        self._database = database

    def of(self, document: ScreenedDocument) -> BuiltPart | None:
        """Return the part that was built of just this text, by whichever model."""
        with self._database.session() as session:
            row = session.get(BuiltRow, document.id)
        if row is None or row.text_hash != document.text_hash:
            return None
        return BuiltPart.model_validate({n: getattr(row, n) for n in BuiltPart.model_fields})

    def keys(self) -> dict[str, tuple[str, str]]:
        """Return hash of the text and recipe, by document."""
        columns = (BuiltRow.document_id, BuiltRow.text_hash, BuiltRow.recipe)
        with self._database.session() as session:
            return {id_: (of, recipe) for id_, of, recipe in session.execute(select(*columns))}

    def failures(self, recipe: str) -> list[UnbuiltPart]:
        """Return documents that this recipe failed at, the latest attempt last."""
        tried = select(UnbuiltRow).where(UnbuiltRow.recipe == recipe)
        with self._database.session() as session:
            rows = session.scalars(tried.order_by(UnbuiltRow.updated_at, UnbuiltRow.document_id))
            return [
                UnbuiltPart(
                    document_id=row.document_id,
                    text_hash=row.text_hash,
                    recipe=row.recipe,
                    reason=row.reason,
                    tally=BuildCounts(),
                )
                for row in rows
            ]

    def tallies(self, recipe: str) -> list[BuildCounts]:
        """Return the counts of each document built by this recipe."""
        with self._database.session() as session:
            rows = session.scalars(select(BuiltRow.tally).where(BuiltRow.recipe == recipe))
            return [BuildCounts.model_validate(each) for each in rows]

    def put(self, part: BuiltPart) -> None:
        """Insert or replace a built part; delete the document's failure."""
        row = BuiltRow(**part.model_dump(mode="json"), updated_at=datetime.now(UTC))
        with self._database.session() as session:
            session.merge(row)
            session.execute(delete(UnbuiltRow).where(UnbuiltRow.document_id == part.document_id))

    def put_failure(self, part: UnbuiltPart) -> None:
        """Insert or replace a failure."""
        row = UnbuiltRow(**part.model_dump(exclude={"tally"}), updated_at=datetime.now(UTC))
        with self._database.session() as session:
            session.merge(row)


def with_built_parts(pipeline: Pipeline, kept: PartStore) -> Pipeline:
    """Return the same pipeline, its nodes joined with a model's nodes of the same text.

    So neither an ingest by newer code nor a reindex loses what was paid for, and a changed text
    takes nothing over from the old one.
    """

    def extract(document: ScreenedDocument) -> list[IncidentNode]:
        part = kept.of(document)
        return add_model_nodes(pipeline.extract(document), part.nodes if part else ())

    return replace(pipeline, extract=extract)
