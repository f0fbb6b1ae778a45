"""The graph of the ingested documents, built by a model."""

from pathlib import Path

from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.graph_build.build_pass import BuildPass
from services.ingestion.graph_build.document import BuiltPart
from services.ingestion.graph_build.part_store import PartStore
from services.ingestion.jobs.stores import Stores
from services.ingestion.model_pass import needed
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline
from services.kit.sql.database import Database
from services.knowledge.model import Document, IncidentNode
from services.llm.guard import GuardedChatModel


class GraphBuilding:
    """What models add to the graph, and what they added."""

    def __init__(
        self,
        *,
        database: Database,
        ledger: Ledger,
        stores: Stores,
        structure: Pipeline,
        parts: PartStore,
        settings: IngestionSettings,
        locks: Path,
    ) -> None:
        """`structure` finds the nodes that a document's headings tell; `locks` keeps lock files."""
        self._database = database
        self._ledger = ledger
        self._stores = stores
        self._structure = structure
        self._parts = parts
        self._settings = settings
        self._locks = locks

    def build_pass(self, model: GuardedChatModel | None) -> BuildPass:
        """Building with `model`: the estimate and the run.

        Raises:
            NoChatModelError: There is none.
        """
        return BuildPass(
            database=self._database,
            ledger=self._ledger,
            stores=self._stores,
            structure=self._structure,
            parts=self._parts,
            settings=self._settings,
            locks=self._locks,
            model=needed(model),
        )

    def both_parts(self, document: Document) -> tuple[list[IncidentNode], BuiltPart | None]:
        """A document's nodes by structure, and apart from them what a model built of it."""
        return list(self._structure.extract(document)), self._parts.of(document)
