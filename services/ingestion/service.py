"""Ingestion: documents in, chunks and incident nodes in the stores, and a job that tells."""

from pathlib import Path

from services.ingestion.cases import CaseService
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.catalogue.roots import Roots
from services.ingestion.catalogue.service import CatalogueService
from services.ingestion.graph_build.part_store import PartStore, with_built_parts
from services.ingestion.graph_build.service import GraphBuilding
from services.ingestion.jobs.service import JobService
from services.ingestion.jobs.stores import Stores
from services.ingestion.pictures.service import PictureService
from services.ingestion.proposals.accepted import AcceptedPages
from services.ingestion.readings.ingested import IngestedReadings
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.survey.records import SurveyRecords
from services.ingestion.survey.service import SurveyService
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.knowledge.page.box_fit import BoxHabit
from services.knowledge.ports import DocumentStore, Embedder, GraphStore, VectorStore
from services.procedure.store.sql_boxes import SqlBoxStore
from services.procedure.store.sql_readings import SqlReadingStore


class IngestionService(
    JobService,
    CatalogueService,
    IngestedReadings,
    GraphBuilding,
    CaseService,
    SurveyService,
    PictureService,
):
    """See `contracts.ingestion.Ingestion`: each base does its part of it, on the same stores."""

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
        tells_syncs: bool = False,
        box_habit: BoxHabit | None = None,
    ) -> None:
        """`work_dir` keeps uploads and locks; processes that share the database share it too.

        `embedder` is for documents; `case_embedder` for resolved tickets, which retrieval compares
        with its queries, and the same where none is given. `tells_syncs`: whether somebody is to
        be told of syncs that failed or lost approvals. `box_habit` is the data folder's.
        """
        boxes = SqlBoxStore(database, box_habit)
        settings = settings or IngestionSettings()
        structure = pipeline or Pipeline.with_embedder(embedder)
        parts, ledger = PartStore(database), Ledger(database)
        stores = Stores(documents, vectors, graph, embedder)
        roots = Roots(ledger, structure.version, (work_dir / "uploads").resolve())
        reading_store = SqlReadingStore(database)
        locks = work_dir / "locks"
        survey = SurveyRecords(database, documents)
        JobService.__init__(
            self,
            database=database,
            ledger=ledger,
            roots=roots,
            stores=stores,
            pipeline=with_built_parts(structure, parts),
            reading_store=reading_store,
            outbox=outbox,
            locks=locks,
            settings=settings,
            tells_syncs=tells_syncs,
            accepted_pages=AcceptedPages(database, documents, reading_store),
            survey=survey,
        )
        CatalogueService.__init__(
            self,
            database=database,
            ledger=ledger,
            roots=roots,
            structure=structure,
            documents=documents,
            graph=graph,
            reading_store=reading_store,
            boxes=boxes,
        )
        IngestedReadings.__init__(
            self,
            database,
            documents,
            case_embedder or embedder,
            pages_at_once=settings.read_pages,
            boxes=boxes,
        )
        GraphBuilding.__init__(
            self,
            database=database,
            ledger=ledger,
            stores=stores,
            structure=structure,
            parts=parts,
            settings=settings,
            locks=locks,
        )
        PictureService.__init__(self, database)
        SurveyService.__init__(self, database, documents, survey)
        CaseService.__init__(self, database, case_embedder or embedder, most=settings.most_cases)
