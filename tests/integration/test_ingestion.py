"""Ingestion on its real embedded stores, killed, and through the real queue."""

import io
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from services.contracts.ingestion import DocumentQuery, IngestJob, JobStatus, Upload
from services.ingestion.service import IngestionService
from services.ingestion.settings import IngestionSettings, SyncSettings
from services.ingestion.sync.service import SyncService
from services.ingestion.tasks import register
from services.kit.queue.outbox import Outbox
from services.kit.queue.workforce import OutboxWorker
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.stores.qdrant_edge import QdrantEdgeVectorStore
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.knowledge.stores.sql_graph import SqlGraphStore
from tests.waiting import eventually

PAUSE_S = 0.02
DOCUMENTS = 120
KILLS = 4


class SlowEmbedder(HashingEmbedder):
    """Takes as long as a model would, so that a kill finds it at work."""

    def embed(self, texts):
        time.sleep(PAUSE_S)
        return super().embed(texts)


class Platform:
    """Ingestion on the embedded stores in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = Database(f"sqlite:///{folder / 'x.db'}")
        self.database.migrate("kit", "knowledge", "procedure", "ingestion")
        self.outbox = Outbox(self.database)
        self.vectors = QdrantEdgeVectorStore(folder / "vectors", HashingEmbedder().dimensions)
        self.graph = SqlGraphStore(self.database)
        self.documents = SqlDocumentStore(self.database)
        self.service = IngestionService(
            database=self.database,
            documents=self.documents,
            vectors=self.vectors,
            graph=self.graph,
            embedder=SlowEmbedder(),
            outbox=self.outbox,
            work_dir=folder / "work",
            settings=IngestionSettings(window_chunks=16),
        )

    def close(self) -> None:
        self.vectors.close()
        self.database.close()

    @property
    def syncs(self) -> SyncService:
        folder, settings = self.folder / "repositories", SyncSettings()
        return SyncService(
            self.database,
            self.outbox,
            self.service.job_service,
            folder=folder,
            settings=settings,
        )

    def contents(self) -> dict[str, object]:
        documents = self.service.documents(DocumentQuery(limit=1000))
        return {
            "hashes": self.documents.hashes(),
            "documents": {each.id: (each.title, each.chunks, each.nodes) for each in documents},
            "points": (self.vectors.count("chunks"), self.vectors.count("nodes")),
            "nodes": sorted(node.id for node in self.graph.of_documents([d.id for d in documents])),
        }


@pytest.fixture
def platform(tmp_path):
    platform = Platform(tmp_path)
    yield platform
    platform.close()


def write_documents(root: Path) -> None:
    root.mkdir()
    for number in range(DOCUMENTS):
        steps = "\n".join(f"{n}. Check port {n} of unit {number}." for n in range(1, 25))
        (root / f"{number:03}.md").write_text(
            f"# Fault {number}\n\n## Symptoms\n\nUnit {number} is silent.\n\n## Steps\n\n{steps}\n"
        )


def test_an_ingest_that_is_killed_again_and_again_ends_like_one_that_was_not(tmp_path):
    root = tmp_path / "docs"
    write_documents(root)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for number in range(KILLS):
        kill_at_work(killed, root, after=0.08 * number)
    platform = Platform(killed)
    job = platform.service.ingest_here(root)
    assert job.status is JobStatus.DONE
    assert job.unchanged > 0, "nothing of the killed runs was kept"
    reference = Platform(whole)
    assert reference.service.ingest_here(root).added == DOCUMENTS
    assert platform.contents() == reference.contents()
    assert platform.service.ingest_here(root).unchanged == DOCUMENTS
    platform.close()
    reference.close()


def kill_at_work(folder: Path, root: Path, *, after: float) -> None:
    """Start an ingest in another process and kill it some time after its first window."""
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.integration.test_ingestion", str(folder), str(root)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "at work\n"
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_an_upload_is_ingested_by_the_queue(platform):
    register(platform.outbox, platform.service.runner, platform.syncs)
    worker = OutboxWorker(platform.outbox, "ingestion")
    worker.start()
    try:
        files = [Upload("a.md", io.BytesIO(b"# A\n\nwords\n")), Upload("b.md", io.BytesIO(b"\0"))]
        job = platform.service.upload(files)
        job = eventually(lambda: platform.service.job(job.id), lambda now: now.is_over)
    finally:
        worker.stop()
    assert (job.status, job.added, len(job.failed)) == (JobStatus.DONE, 1, 1)
    assert platform.outbox.counts() == {"waiting": 0, "parked": 0}


def tell(job: IngestJob) -> None:
    """Say that something is stored; what is nearly done waits for its end by a kill."""
    if job.added:
        print("at work", flush=True)  # noqa: T201
    if job.handled > DOCUMENTS * 0.9:
        signal.pause()


if __name__ == "__main__":
    Platform(Path(sys.argv[1])).service.ingest_here(Path(sys.argv[2]), on_progress=tell)
