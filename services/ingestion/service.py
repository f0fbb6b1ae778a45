"""Ingestion: documents in, chunks and incident nodes in the stores, and a job that tells."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from uuid import uuid4

import structlog
from sqlalchemy.orm import Session

from services.contracts.ingestion import (
    ANY_DOCUMENT,
    Archived,
    DocumentContents,
    DocumentQuery,
    Folder,
    ForgetCases,
    ForgetRequest,
    IngestedDocument,
    IngestedRoot,
    IngestJob,
    IngestRequest,
    JobStatus,
    Ownership,
    RemovalCost,
    Upload,
)
from services.contracts.readings import DoubtReport, DoubtTaken, DoubtWithdrawal
from services.ingestion.catalogue.contents import places_of_chunks, places_of_nodes
from services.ingestion.catalogue.documents import Catalogue
from services.ingestion.catalogue.removing import removal_cost
from services.ingestion.graph_build.document import BuiltPart
from services.ingestion.graph_build.kept import KeptParts, with_kept_parts
from services.ingestion.graph_build.run import GraphBuild, NoChatModelError
from services.ingestion.jobs.jobs import Jobs, new_job
from services.ingestion.jobs.ledger import Ledger
from services.ingestion.jobs.lock import all_sources_lock, source_lock
from services.ingestion.jobs.pipeline import Pipeline
from services.ingestion.jobs.run import OnProgress, Run, removed_path
from services.ingestion.jobs.store import Stores
from services.ingestion.metrics import OUTDATED
from services.ingestion.readings.model_run import ModelRun, PageReader
from services.ingestion.readings.service import ReadingsService
from services.ingestion.readings.unread import Unread
from services.ingestion.readings.upkeep import Upkeep
from services.ingestion.readings.waiting import Waiting
from services.ingestion.reindex import OnReindexed, Reindex
from services.ingestion.roots.git import repository_of
from services.ingestion.roots.scan import UnusableRootError
from services.ingestion.roots.source import is_archive, opened, owner_of
from services.ingestion.roots.upload import keep
from services.ingestion.settings import IngestionSettings
from services.ingestion.sync import records
from services.ingestion.tables import JobRow
from services.kit.access.audit import add_audit
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.knowledge.model import Document, IncidentNode, ResolvedCase
from services.knowledge.ports import (
    DocumentNotFoundError,
    DocumentStore,
    Embedder,
    GraphStore,
    VectorStore,
)
from services.knowledge.stores.sql_archive import SqlCaseArchive
from services.llm.chat_model import ChatModel
from services.llm.guard import GuardedChatModel
from services.procedure.by_model.reader import ModelReader
from services.procedure.ports import TicketDoubt
from services.procedure.store.sql_readings import SqlReadingStore

RUN_JOB = "ingestion.run_job"
FORGET_ROOT = "ingestion.forget_root"

_ROOTS_IN_A_LOG = 5

_log = structlog.get_logger()


class PathNotAllowedError(InvalidInputError):
    """The path does not exist, or is outside the allowed roots: which of the two is not told."""


class RootNotFoundError(NotFoundError):
    """No document in the stores came from this root."""


class IngestionService:
    """See `contracts.ingestion.Ingestion`.

    Whatever it writes may be written again: a job that was killed is simply run once more, and
    finds what is done already.
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
        tells_syncs: bool = False,
    ) -> None:
        """`work_dir` keeps uploads and locks; processes that share the database share it too.

        `embedder` is for documents; `case_embedder` for resolved tickets, which retrieval compares
        with its queries, and the same where none is given. `tells_syncs`: whether somebody is to
        be told of syncs that failed or lost approvals.
        """
        self._tells_syncs = tells_syncs
        self._database = database
        self._stores = Stores(documents, vectors, graph, embedder)
        self._case_embedder = case_embedder or embedder
        self._outbox = outbox
        self._work_dir = work_dir
        self._settings = settings or IngestionSettings()
        self._structure = pipeline or Pipeline.with_embedder(embedder)
        self._kept = KeptParts(database)
        self._pipeline = with_kept_parts(self._structure, self._kept)
        self._jobs = Jobs(database)
        self._archive = SqlCaseArchive(database, most=self._settings.most_cases)
        self._ledger = Ledger(database)
        self._catalogue = Catalogue(database, self._pipeline.version)
        self._readings = SqlReadingStore(database)
        self._upkeep = Upkeep.of(self._readings, self._ledger, documents)

    def ingest(self, request: IngestRequest) -> IngestJob:
        """See `Ingestion.ingest`."""
        path = self.allowed_path(request.path)
        return self._queued(self._new_job(path, prune=request.prune, is_queued=True))

    def allowed_path(self, named: str) -> Path:
        """The path that a request may name.

        Raises:
            PathNotAllowedError: It is outside the allowed roots, or not there.
        """
        path = Path(named).resolve() if "\0" not in named else None
        roots = [root.resolve() for root in self._settings.allowed_roots]
        if path is None or not any(path.is_relative_to(root) for root in roots):
            path = None
        if path is None or not path.exists():
            raise PathNotAllowedError(
                f"expected an existing path below one of the allowed roots, got {named!r}: "
                "see FLOWXPERT_INGESTION_ALLOWED_ROOTS"
            )
        return path

    def queue_path(self, session: Session, path: Path) -> str:
        """Queue a job on a path in the caller's transaction; returns its id."""
        job = self._new_job(path, prune=True, is_queued=True)
        _add(session, job, "ingested")
        self._outbox.put(session, RUN_JOB, {"job_id": job.id}, key=f"{RUN_JOB}:{job.id}")
        return job.id

    def ingest_here(
        self, path: Path, *, prune: bool = True, on_progress: OnProgress | None = None
    ) -> IngestJob:
        """Ingest now, in this thread, from anywhere this process can read: the command line's way.

        Raises:
            UnusableRootError: Nothing is there, or nothing that can be ingested.
        """
        if not path.exists():
            raise UnusableRootError(f"expected a folder, a file or a zip archive at {str(path)!r}")
        job = self._new_job(path.resolve(), prune=prune, is_queued=False)
        with self._database.session() as session:
            _add(session, job, "ingested")
        return self.run(job.id, on_progress)

    def upload(self, files: Sequence[Upload]) -> IngestJob:
        """See `Ingestion.upload`."""
        folder = self._uploads / str(uuid4())
        keep(files, folder, self._settings)
        job = new_job(folder, str(self._uploads), is_upload=True, is_queued=True, prune=False)
        return self._queued(job)

    def roots(self) -> list[IngestedRoot]:
        """See `Ingestion.roots`."""
        return [
            IngestedRoot(
                path=path,
                documents=counted.documents,
                outdated=counted.outdated,
                is_upload=path == str(self._uploads),
                is_there=os.access(path, os.F_OK),
            )
            for path, counted in self._ledger.sources(self._pipeline.version).items()
        ]

    def forget(self, request: ForgetRequest) -> IngestJob:
        """See `Ingestion.forget`."""
        root = self._root(request.root, os.path.normpath(request.root))
        job = self._new_removal(root, is_queued=True)
        if request.document:
            self._check_upload(root, request.document)
            job.path = removed_path(root.path, request.document)
        return self._queued(job, FORGET_ROOT)

    def removal_cost(self, request: ForgetRequest) -> RemovalCost:
        """See `Ingestion.removal_cost`."""
        root = self._root(request.root, os.path.normpath(request.root))
        if request.document:
            self._check_upload(root, request.document)
        return removal_cost(self._ledger, self._readings, root.path, request.document)

    def root_here(self, named: str) -> IngestedRoot:
        """The root that somebody on this machine means by a path, which may be gone.

        What the path says comes before where it leads: a link in the place of a folder that was
        moved must not stand for the folder's new place.

        Raises:
            RootNotFoundError: No document came from there.
        """
        return self._root(named, os.path.normpath(Path.cwd() / named), os.path.realpath(named))

    def forget_here(
        self, root: IngestedRoot, *, on_progress: OnProgress | None = None
    ) -> IngestJob:
        """Take all documents of the root out of the stores now, in this thread.

        One that was killed goes on when it is called again.
        """
        job = self._new_removal(root, is_queued=False)
        with self._database.session() as session:
            _add(session, job, "forgotten")
        return self.run_removal(job.id, on_progress)

    def job(self, job_id: str) -> IngestJob:
        """See `Ingestion.job`."""
        return self._jobs.get(job_id)

    def jobs(self, *, limit: int = 50) -> list[IngestJob]:
        """See `Ingestion.jobs`."""
        return self._jobs.latest(limit=limit)

    def documents(self, query: DocumentQuery = ANY_DOCUMENT) -> list[IngestedDocument]:
        """See `Ingestion.documents`."""
        return self._catalogue.documents(query)

    def folders(self, *, root: str = "", under: str = "") -> list[Folder]:
        """See `Ingestion.folders`."""
        return self._catalogue.folders(root, under)

    def contents(self, document_id: str) -> DocumentContents:
        """See `Ingestion.contents`."""
        document = self.document(document_id)
        return DocumentContents(
            document=self._catalogue.document(document_id),
            lines=tuple(document.text.split("\n")),
            chunks=places_of_chunks(self._structure.split(document)),
            nodes=places_of_nodes(self._stores.graph.of_documents([document_id]), document_id),
        )

    def owners(self) -> list[Ownership]:
        """See `Ingestion.owners`."""
        return self._catalogue.owners.all()

    def set_owner(self, ownership: Ownership) -> list[Ownership]:
        """See `Ingestion.set_owner`."""
        if ownership.root and ownership.team.strip():  # an entry of a root that is gone may go
            self._check_known(ownership.root)
        return self._catalogue.owners.put(ownership)

    def document(self, document_id: str) -> Document:
        """See `Ingestion.document`."""
        document = self._stores.documents.get(document_id)
        if document is None:
            raise DocumentNotFoundError(f"no document has the id {document_id!r}")
        return document

    def archive(self, case: ResolvedCase) -> Archived:
        """See `contracts.ingestion.Ingestion.archive`."""
        embedder = self._case_embedder
        (vector,) = embedder.embed([f"{case.title}\n{case.text}".strip()])
        kept = self._archive.put(case, vector.tolist(), embedder.model_name)
        return Archived(kept=kept)

    def forget_cases(self, request: ForgetCases) -> None:
        """See `contracts.ingestion.Ingestion.forget_cases`."""
        self._archive.remove(request.ids)

    def doubt(self, report: DoubtReport) -> DoubtTaken:
        """See `contracts.ingestion.Ingestion.doubt`."""
        doubt = TicketDoubt.model_validate(report.model_dump(exclude={"document_id"}))
        hashed = self._upkeep.texts.of_documents([report.document_id]).get(report.document_id, "")
        if hashed:
            self.readings(report.by).doubt(hashed, doubt)
        return DoubtTaken(kept=bool(hashed))

    def withdraw_doubts(self, request: DoubtWithdrawal) -> None:
        """See `contracts.ingestion.Ingestion.withdraw_doubts`."""
        self._readings.withdraw(request.tickets, request.step)

    def run(self, job_id: str, on_progress: OnProgress | None = None) -> IngestJob:
        """Do a stored job's work, once no other job works on the same source.

        A job that is done stays as it is; one that failed is run again. Documents come in the order
        of their ids, and `on_progress` is told after each batch of them.

        Raises:
            JobNotFoundError: No such job.
            UnavailableError: A store did not answer; run the job again.
        """
        row = self._jobs.row(job_id)
        with source_lock(self._database, row.source, self._work_dir / "locks"):
            if self._jobs.row(job_id).status != JobStatus.DONE:
                self._jobs.begin(job_id)
                self._run(self._jobs.row(job_id), on_progress or (lambda _job: None))
                self._count_outdated()
        return self._jobs.get(job_id)

    def run_removal(self, job_id: str, on_progress: OnProgress | None = None) -> IngestJob:
        """Do the work of a stored removal, once no job works on any source.

        Raises:
            JobNotFoundError: No such job.
            UnavailableError: A store did not answer; run the job again.
        """
        with all_sources_lock(self._database, self._work_dir / "locks"):
            if self._jobs.row(job_id).status != JobStatus.DONE:
                self._jobs.begin(job_id)
                row = self._jobs.row(job_id)
                self._run_of(row, on_progress or (lambda _job: None)).forget()
                self._count_outdated()
        return self._jobs.get(job_id)

    def reindex(self, on_progress: OnReindexed = lambda _done, _total: None) -> int:
        """Make vectors and graph anew from the stored documents, while no job works.

        Searches find what they found before, until all is done. Returns the number of documents.

        Raises:
            UnavailableError: A store did not answer; the vectors are as they were.
        """
        with all_sources_lock(self._database, self._work_dir / "locks"):
            return Reindex(self._ledger, self._stores, self._pipeline, self._settings).run(
                on_progress
            )

    def tell_outdated(self) -> None:
        """Say which documents were read by older rules, and what makes them anew.

        An upgrade changes nothing that is stored; it is for people to say when the time is good.
        """
        by_root = self._count_outdated()
        if by_root:
            _log.warning(
                "ingestion.documents_outdated",
                documents=sum(by_root.values()),
                roots=list(by_root)[:_ROOTS_IN_A_LOG],
                to_do="`flowxpert ingest` what was ingested; send again what was uploaded",
            )

    def graph_build(self, model: GuardedChatModel | None) -> GraphBuild:
        """Building the graph of the ingested documents with `model`: the estimate and the run.

        Raises:
            NoChatModelError: There is none.
        """
        model = _needed(model)
        return GraphBuild(
            database=self._database,
            ledger=self._ledger,
            stores=self._stores,
            pipeline=self._structure,
            kept=self._kept,
            settings=self._settings,
            locks=self._work_dir / "locks",
            model=model,
        )

    def readings(self, who: str) -> ReadingsService:
        """The readings of the ingested pages, for a caller of this name."""
        waiting = Waiting(self._database, self._catalogue.owners)
        return ReadingsService(self._readings, self._upkeep, waiting, who=who)

    def model_run(
        self,
        model: GuardedChatModel | None,
        make_reader: Callable[[ChatModel], PageReader] = ModelReader,
    ) -> ModelRun:
        """Reading the ingested pages with `model`: the estimate and the run.

        Raises:
            NoChatModelError: There is none.
        """
        model = _needed(model)
        recipe = f"{make_reader(model).version} {model.name}"
        return ModelRun(
            store=self._readings,
            texts=self._upkeep.texts,
            unread=Unread(self._database, recipe),
            model=model,
            make_reader=make_reader,
            at_once=self._settings.read_pages,
        )

    def both_parts(self, document: Document) -> tuple[list[IncidentNode], BuiltPart | None]:
        """A document's nodes by structure, and apart from them what a model built of it."""
        return list(self._structure.extract(document)), self._kept.of(document)

    def park(self, session: Session, job_id: str, reason: str) -> None:
        """Mark a job as failed for good, when the queue gives it up."""
        self._jobs.save(session, job_id, {"status": JobStatus.FAILED, "reason": reason})
        job = session.get(JobRow, job_id, populate_existing=True)
        if job is not None:
            records.end_with_job(session, self._outbox, job, tells=self._tells_syncs)

    def _count_outdated(self) -> dict[str, int]:
        """Number of outdated documents by root, none where there are none."""
        counted = self._ledger.sources(self._pipeline.version).items()
        by_root = {source: each.outdated for source, each in counted if each.outdated}
        OUTDATED.set(sum(by_root.values()))
        return by_root

    def _run(self, row: JobRow, on_progress: OnProgress) -> None:
        run = self._run_of(row, on_progress)
        try:
            limits = self._settings.limits
            with opened(Path(row.path), limits, expand_archives=row.is_upload) as scan:
                run.ingest(scan)
        except UnusableRootError as error:
            run.fail(str(error))

    def _run_of(self, row: JobRow, on_progress: OnProgress) -> Run:
        return Run(
            job=row,
            database=self._database,
            jobs=self._jobs,
            ledger=self._ledger,
            stores=self._stores,
            pipeline=self._pipeline,
            upkeep=self._upkeep,
            settings=self._settings,
            on_progress=on_progress,
            finish=partial(self._finish, row),
            is_sync=self._is_sync(row),
        )

    def _is_sync(self, job: JobRow) -> bool:
        with self._database.session() as session:
            return records.of_job(session, job.id) is not None

    def _finish(self, job: JobRow, session: Session) -> None:
        """In the transaction that ends the job, so does the sync that it came from."""
        records.end_with_job(session, self._outbox, job, tells=self._tells_syncs)
        self._outbox.finish(session)

    @property
    def _uploads(self) -> Path:
        return (self._work_dir / "uploads").resolve()

    def _new_job(self, path: Path, *, prune: bool, is_queued: bool) -> JobRow:
        if os.fsencode(path) != str(path).encode("utf-8", "replace"):
            raise UnusableRootError(f"the path {str(path)!r} is no text: rename it")
        if path.is_relative_to(self._uploads):
            # Ids of uploads do not start where the files are kept, so all would seem to be gone.
            raise UnusableRootError(f"{str(path)!r} keeps what was uploaded: send it again instead")
        # A single file says nothing about those beside it.
        has_all = path.is_dir() or is_archive(path) or repository_of(path) is not None
        return new_job(
            path, owner_of(path), is_upload=False, is_queued=is_queued, prune=prune and has_all
        )

    def _check_known(self, root: str) -> None:
        if root not in {each.path for each in self.roots()}:
            raise InvalidInputError(
                f"no document came from {root[:200]!r}: name one of the roots that /v1/roots lists"
            )

    def _root(self, named: str, *paths: str) -> IngestedRoot:
        known = {root.path: root for root in self.roots()} if named else {}
        for path in paths:
            if path in known:
                return known[path]
        raise RootNotFoundError(
            f"no document came from {named!r}: `flowxpert roots` and /v1/roots list the known roots"
        )

    def _check_upload(self, root: IngestedRoot, document_id: str) -> None:
        """Refuse to forget one document that is not there, or that would come back.

        Raises:
            DocumentNotFoundError: The root has none of this id.
            InvalidInputError: It was not uploaded.
        """
        if root.path != str(self._uploads):
            raise InvalidInputError(
                f"{document_id!r} was not uploaded: take it out of {root.path!r} and ingest that "
                "again"
            )
        if self._ledger.source(document_id) != root.path:
            raise DocumentNotFoundError(f"no uploaded document has the id {document_id!r}")

    def _new_removal(self, root: IngestedRoot, *, is_queued: bool) -> JobRow:
        path = Path(root.path)
        return new_job(path, root.path, is_upload=False, is_queued=is_queued, prune=True)

    def _queued(self, job: JobRow, task: str = RUN_JOB) -> IngestJob:
        done = "forgotten" if task == FORGET_ROOT else "uploaded" if job.is_upload else "ingested"
        with self._database.session() as session:
            _add(session, job, done)
            self._outbox.put(session, task, {"job_id": job.id}, key=f"{task}:{job.id}")
        return self._jobs.get(job.id)


def _add(session: Session, job: JobRow, done: str) -> None:
    """Store a job, and who wants it."""
    session.add(job)
    told = {"job": job.id, "prune": job.prune}
    add_audit(session, f"documents.{done}", f"root {job.source}", after=told)


def _needed(model: GuardedChatModel | None) -> GuardedChatModel:
    if model is None:
        raise NoChatModelError(
            "a model is needed: set FLOWXPERT_MODEL_URL, or FLOWXPERT_MODEL_GGUF for one in this "
            "process"
        )
    return model
