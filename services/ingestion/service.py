"""Ingestion: documents in, chunks and incident nodes in the stores, and a job with progress."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from services.contracts.ingestion import Archived, Decay, ForgetCases
from services.contracts.pictures import PictureFile, PictureNotFoundError
from services.contracts.readings import DoubtWithdrawal
from services.contracts.ticket import PurgedTickets
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.catalogue.owners import Owners
from services.ingestion.catalogue.roots import Roots
from services.ingestion.catalogue.service import CatalogueService
from services.ingestion.graph_build.build_pass import BuildPass
from services.ingestion.graph_build.document import BuiltPart
from services.ingestion.graph_build.part_store import PartStore, with_built_parts
from services.ingestion.jobs.parts import JobParts
from services.ingestion.jobs.records import JobRecords
from services.ingestion.jobs.runner import JobRunner
from services.ingestion.jobs.service import JobService
from services.ingestion.jobs.stores import DocumentStores
from services.ingestion.model_pass import require_model
from services.ingestion.pictures.store import PictureStore, PictureUpkeep
from services.ingestion.proposals.accepted import AcceptedPages
from services.ingestion.proposals.records import forget_tickets
from services.ingestion.readings.ingested import IngestedReadings
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.survey.decay import dead_links, orphan_names
from services.ingestion.survey.records import SurveyRecords
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.knowledge.model import IncidentNode, ResolvedCase
from services.knowledge.page.box_fit import BoxHabit
from services.knowledge.ports import DocumentStore, Embedder, GraphStore, VectorStore
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.stores.sql_archive import SqlCaseArchive
from services.llm.guard import GuardedChatModel
from services.runbook.store.sql_boxes import SqlBoxStore


class IngestionService:
    """See `contracts.ingestion.Ingestion`: jobs, catalogue and readings are services of their own.

    Their methods are this service's too, for whoever has it in the same process.
    """

    def __init__(
        self,
        *,
        database: Database,
        documents: DocumentStore,
        vectors: VectorStore,
        graph: GraphStore,
        embedder: Embedder,
        outbox: Outbox,
        work_dir: Path,
        case_embedder: Embedder | None = None,
        settings: IngestionSettings | None = None,
        pipeline: Pipeline | None = None,
        notifies_syncs: bool = False,
        box_habit: BoxHabit | None = None,
    ) -> None:
        """Keep uploads and locks in `work_dir`, shared by processes that share the database.

        `embedder` is for documents; `case_embedder` for resolved tickets, which retrieval compares
        with its queries, by default the same. `notifies_syncs` reports syncs that failed or lost
        approvals. `box_habit` is the data folder's.
        """
        settings = settings or IngestionSettings()
        structure = pipeline or Pipeline.with_embedder(embedder)
        ledger = Ledger(database)
        boxes = SqlBoxStore(database, box_habit)
        maintenance = ReadingMaintenance.of(database, documents, boxes)
        self._built = PartStore(database)
        self._pictures = PictureStore(database)
        self.pictures = self._pictures.of_document
        self._cases = SqlCaseArchive(database, most=settings.most_cases)
        self._case_embedder = case_embedder or embedder
        self._parts = JobParts(
            database=database,
            ledger=ledger,
            jobs=JobRecords(database),
            roots=Roots(ledger, structure.version, (work_dir / "uploads").resolve()),
            stores=DocumentStores(documents, vectors, graph, embedder),
            structure=structure,
            pipeline=with_built_parts(structure, self._built),
            maintenance=maintenance,
            pictures=PictureUpkeep(self._pictures, documents),
            survey=SurveyRecords(database, documents),
            accepted_pages=AcceptedPages(database, maintenance),
            outbox=outbox,
            settings=settings,
            locks=work_dir / "locks",
            notifies_syncs=notifies_syncs,
        )

        self.runner = runner = JobRunner(self._parts)
        self.run, self.run_removal, self.reindex = runner.run, runner.run_removal, runner.reindex

        self.job_service = requests = JobService(self._parts, runner)
        self.ingest, self.upload, self.forget = requests.ingest, requests.upload, requests.forget
        self.job, self.jobs = self._parts.jobs.get, self._parts.jobs.latest
        self.ingest_here, self.forget_here = requests.ingest_here, requests.forget_here

        owners = Owners(database)
        catalogue = CatalogueService(
            database=database,
            owners=owners,
            ledger=ledger,
            roots=self._parts.roots,
            structure=structure,
            documents=documents,
            graph=graph,
            reading_store=maintenance.store,
            boxes=boxes,
        )
        self.roots, self.root_here = self._parts.roots.all, catalogue.root_here
        self.removal_cost = catalogue.removal_cost
        self.documents, self.document = catalogue.documents, catalogue.document
        self.contents, self.linked = catalogue.contents, catalogue.linked
        self.folders = catalogue.folders
        self.owners, self.set_owner = owners.all, catalogue.set_owner

        self.page_readings = readings = IngestedReadings(
            database, maintenance, self._case_embedder, pages_at_once=settings.read_pages
        )
        self.readings, self.reading_pass = readings.readings, readings.reading_pass
        self.doubt, self.withdraw_doubts = readings.doubt, readings.withdraw_doubts

    def picture(self, document_id: str, content_hash: str) -> PictureFile:
        """See `Ingestion.picture`."""
        picture = self._pictures.file(document_id, content_hash)
        if picture is None:
            raise PictureNotFoundError(
                f"{document_id!r} has no picture of the hash {content_hash!r}"
            )
        return picture

    def archive(self, case: ResolvedCase) -> Archived:
        """See `Ingestion.archive`."""
        embedder = self._case_embedder
        (vector,) = embedder.embed([f"{case.title}\n{case.text}".strip()])
        return Archived(kept=self._cases.put(case, vector.tolist(), embedder.model_name))

    def forget_cases(self, request: ForgetCases) -> None:
        """See `Ingestion.forget_cases`."""
        self._cases.remove(request.ids)

    def forget_tickets(self, purged: PurgedTickets) -> None:
        """See `Ingestion.forget_tickets`."""
        self._cases.remove(purged.ids)
        self.withdraw_doubts(DoubtWithdrawal(tickets=purged.ids))
        with self._parts.database.session() as session:
            forget_tickets(session, purged.ids)

    def decay(self) -> list[Decay]:
        """See `Ingestion.decay`."""

        def texts_of(ids: Sequence[str]) -> Iterator[str]:
            documents = self._parts.stores.documents.get_many(ids)
            return (each.for_model().text for each in documents.values())

        self._parts.survey.catch_up(datetime.now(UTC))
        with self._parts.database.session() as session:
            return [*dead_links(session), *orphan_names(session, texts_of)]

    def build_pass(self, model: GuardedChatModel | None) -> BuildPass:
        """Return the pass that builds the graph with `model`, for its estimate and its run.

        Raises:
            NoChatModelError: There is none.
        """
        return BuildPass(self._parts, self._built, require_model(model))

    def both_parts(self, document: ScreenedDocument) -> tuple[list[IncidentNode], BuiltPart | None]:
        """Return a document's nodes by structure and, apart from them, what a model built of it."""
        return list(self._parts.structure.extract(document)), self._built.of(document)
