"""Ingestion on small real stores, with fakes only where a test wants them to break."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from services.contracts.ingestion import IngestJob
from services.ingestion.service import IngestionService
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Chunk, IncidentNode, Passage, SectionRole, Span
from services.knowledge.ports import Collection, Hit, Point, StoreUnavailableError
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.knowledge.stores.sql_graph import SqlGraphStore

ROOMS = ("kit", "knowledge", "procedure", "ingestion")


class Killed(BaseException):
    """Stands for a process that ends here: nothing catches it."""


@dataclass
class Fuse:
    """Counts writes, and ends one of them when told to."""

    left: int = -1
    error: BaseException | None = None
    writes: int = 0

    def burn(self) -> None:
        self.writes += 1
        self.left -= 1
        if self.left == -1 and self.error is not None:
            error, self.error = self.error, None
            raise error


class Fused:
    """A store whose writes burn the fuse first."""

    def __init__(self, store: object, fuse: Fuse, writes: set[str]) -> None:
        self._store = store
        self._fuse = fuse
        self._writes = writes

    def __getattr__(self, name: str) -> Callable:
        method = getattr(self._store, name)
        if name not in self._writes:
            return method

        def write(*args: object, **kwargs: object) -> object:
            self._fuse.burn()
            return method(*args, **kwargs)

        return write


@dataclass
class FakeVectors:
    """A vector store that is a dictionary."""

    points: dict[str, dict[str, Point]] = field(default_factory=lambda: {"chunks": {}, "nodes": {}})

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        self.points[collection].update((point.id, point) for point in points)

    def delete(self, collection: Collection, ids: Sequence[str]) -> None:
        for id_ in ids:
            self.points[collection].pop(id_, None)

    def delete_document(self, collection: Collection, document_id: str) -> None:
        raise NotImplementedError

    def search(self, collection: Collection, **query: object) -> list[Hit]:
        raise NotImplementedError

    def count(self, collection: Collection) -> int:
        return len(self.points[collection])

    @contextmanager
    def rebuild(self) -> "Iterator[FakeVectors]":
        fresh = FakeVectors()
        yield fresh
        self.points = fresh.points

    def close(self) -> None:
        pass

    def of(self, collection: str, document_id: str) -> list[Point]:
        return [p for p in self.points[collection].values() if document_id in p.document_ids]


class CountingEmbedder(HashingEmbedder):
    """Knows how many texts it embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = 0

    def embed(self, texts):
        self.texts += len(texts)
        return super().embed(texts)


def split_by_blank_lines(screened: ScreenedDocument) -> list[Chunk]:
    document = screened.for_person()
    chunks = []
    for match in re.finditer(r"\S.*?(?=\n\s*\n|\Z)", document.text, re.DOTALL):
        line = document.text.count("\n", 0, match.start()) + 1
        text = match.group().strip()
        chunks.append(
            Chunk(
                id=f"{document.id}|{text}",
                span=Span(document_id=document.id, start_line=line, end_line=line),
                heading_path=(document.title,),
                text=text,
            )
        )
    return chunks


def node_per_alert(screened: ScreenedDocument) -> list[IncidentNode]:
    """A node for each word in capitals and lower case that ends in Down."""
    document = screened.for_person()
    return [
        IncidentNode(
            id=name.lower(),
            name=name,
            failure_description=(
                Passage(
                    span=Span(document_id=document.id, start_line=1, end_line=1),
                    role=SectionRole.MEANING,
                    heading_path=(document.title,),
                    text=f"{name} in {document.id}",
                ),
            ),
        )
        for name in dict.fromkeys(re.findall(r"\w+Down\b", document.text))
    ]


class IngestionHarness:
    """One service and its stores on a folder of documents."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.root = folder / "docs"
        self.root.mkdir(parents=True, exist_ok=True)
        self.work = folder / "work"
        self.database = Database.memory()
        self.database.migrate(*ROOMS)
        self.documents = SqlDocumentStore(self.database)
        self.graph = SqlGraphStore(self.database)
        self.vectors = FakeVectors()
        self.fuse = Fuse()
        self.embedder = CountingEmbedder()
        self.outbox = Outbox(self.database)
        self.settings = IngestionSettings(**settings)
        self.notifies_syncs = False
        self.pipeline = Pipeline("1", split_by_blank_lines, node_per_alert)

    @property
    def service(self) -> IngestionService:
        return IngestionService(
            database=self.database,
            documents=Fused(self.documents, self.fuse, {"put", "delete"}),
            vectors=Fused(self.vectors, self.fuse, {"upsert", "delete"}),
            graph=Fused(self.graph, self.fuse, {"replace_document", "delete_document"}),
            embedder=self.embedder,
            outbox=self.outbox,
            work_dir=self.work,
            settings=self.settings,
            pipeline=self.pipeline,
            notifies_syncs=self.notifies_syncs,
        )

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def ingest(self, path: Path | None = None, **options: bool) -> IngestJob:
        return self.service.ingest_here(path or self.root, **options)

    def run_queued(self, job: IngestJob, on_progress: Callable = lambda _job: None) -> IngestJob:
        return self.service.run(job.id, on_progress)

    def forget(self, root: Path | str | None = None) -> IngestJob:
        return self.service.forget_here(self.service.root_here(str(root or self.root)))

    def forget_queued(self, job_id: str) -> None:
        self.service.run_removal(job_id)

    def break_writing(self, *, after: int, error: BaseException | None = None) -> None:
        """Let the write that follows `after` others fail, once."""
        self.fuse.left, self.fuse.error = after, error or Killed()

    def contents(self) -> dict[str, object]:
        """Everything the stores hold, for comparing one state with another."""
        nodes = self.graph.of_documents(list(self.documents.hashes()))
        return {
            "documents": self.documents.hashes(),
            "chunks": {i: p.payload for i, p in self.vectors.points["chunks"].items()},
            "node points": {i: p.text for i, p in self.vectors.points["nodes"].items()},
            "nodes": {node.id: node for node in nodes},
            "graph": self.graph.count(),
        }


def unavailable() -> StoreUnavailableError:
    return StoreUnavailableError("down for a moment")


def counters(job: IngestJob) -> dict[str, int]:
    names = ("added", "changed", "unchanged", "deleted", "skipped")
    counts = {name: getattr(job, name) for name in names} | {"failed": len(job.failed)}
    return {name: count for name, count in counts.items() if count}


def reasons(job: IngestJob) -> dict[str, str]:
    return {failed.document_id: failed.reason for failed in job.failed}
