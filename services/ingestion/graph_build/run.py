"""Building the graph over all documents: resumable, incremental, and told while it goes on."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict

from services.contracts.ingestion import FailedDocument
from services.grounding.vectors import RecentVectors
from services.ingestion.graph_build.asking import recipe
from services.ingestion.graph_build.comparison import Comparison, compare
from services.ingestion.graph_build.document import BuiltPart, DocumentBuilder, UnbuiltPart
from services.ingestion.graph_build.estimate import Estimate, estimate
from services.ingestion.graph_build.join import joined
from services.ingestion.graph_build.kept import KeptParts
from services.ingestion.graph_build.tally import Tally
from services.ingestion.jobs.ledger import Ledger
from services.ingestion.jobs.lock import source_lock
from services.ingestion.jobs.pipeline import Pipeline
from services.ingestion.jobs.store import Stores
from services.ingestion.metrics import BUILT_DOCUMENTS, BUILT_SENTENCES
from services.ingestion.settings import IngestionSettings
from services.kit.errors import FlowXpertError, InvalidInputError
from services.kit.sql.database import Database
from services.knowledge.model import Document
from services.knowledge.screening.document import text_hash
from services.llm.guard import GuardedChatModel

_REMEMBERED = 20_000

_FAILED_IN_A_ROW = 5
"""Documents that fail one after the other, until it must be the model that fails."""

_log = structlog.get_logger()


class GraphUnfinishedError(FlowXpertError):
    """The model failed at several documents in a row, or at all; those built before stay built."""

    status_code = 503
    retryable = True


class NoChatModelError(InvalidInputError):
    """The graph is to be built by a model, and the settings name none."""


class Chosen(BaseModel):
    """Which documents to build, and when to stop."""

    model_config = ConfigDict(frozen=True)

    pattern: str = "*"
    """Shell pattern over document ids; `*` crosses folders."""
    limit: int = 0
    """Most documents to build, those built already not counted; 0 for all."""
    tokens: int = 0
    """Begin no further document once so many tokens are spent; 0 for no bound."""


class BuildReport(BaseModel):
    """What a run has done so far."""

    model_config = ConfigDict(frozen=True)

    total: int
    """Documents that this run is to build."""
    built: int = 0
    overtaken: int = 0
    """Documents that were changed while the model read them; the next run builds them."""
    failed: tuple[FailedDocument, ...] = ()
    """Documents that the model failed at or refused; the next run takes them behind all others."""
    failed_in_a_row: int = 0
    """Of them, those since the last one that did not fail."""
    unchanged: int = 0
    """Chosen, and built already of this text by this model and these prompts."""
    tally: Tally = Tally()
    comparison: Comparison = Comparison()

    @property
    def handled(self) -> int:
        """Documents done with, of `total`."""
        return self.built + self.overtaken + len(self.failed)

    @property
    def left(self) -> int:
        """Documents that a further run would build."""
        return self.total - self.built


Part = BuiltPart | UnbuiltPart
OnBuilt = Callable[[BuildReport], None]


@dataclass
class GraphBuild:
    """One run. Several at once do no harm, but each asks the model."""

    database: Database
    ledger: Ledger
    stores: Stores
    pipeline: Pipeline
    """Of the structure alone."""
    kept: KeptParts
    settings: IngestionSettings
    locks: Path
    model: GuardedChatModel

    def estimate(self, chosen: Chosen) -> Estimate:
        """What `run` would cost; asks the model nothing."""
        todo, unchanged = self._todo(chosen)
        late = {id_: part.reason for id_, part in self._failures().items()}
        failed = [FailedDocument(document_id=i, reason=late[i]) for i in todo if i in late]
        chunks = (self.pipeline.split(document) for document in self._documents(todo))
        past = self.kept.tallies(recipe(self.model.name))
        return estimate(
            chunks, self.stores.embedder.count_tokens, past, built=unchanged, failed=failed
        )

    def run(self, chosen: Chosen, on_progress: OnBuilt = lambda _report: None) -> BuildReport:
        """Build what is new or changed, in the order of the ids, each document as a whole.

        Documents that failed before come last. Whoever kills it loses the documents in work and no
        other.

        Raises:
            GraphUnfinishedError: The model failed at several documents in a row, or at all there
                were; what was built stays.
            StoreUnavailableError: A store did not answer.
        """
        todo, unchanged = self._todo(chosen)
        report = BuildReport(total=len(todo), unchanged=unchanged)
        on_progress(report)
        # Documents in work at one time may all meet the same short absence of the model.
        most_failed = max(_FAILED_IN_A_ROW, self.settings.graph_documents + 1)

        def goes_on() -> bool:
            is_spent = 0 < chosen.tokens <= report.tally.tokens
            return not is_spent and report.failed_in_a_row < most_failed

        for part in self._parts(todo, goes_on):
            report = self._noted(report, part)
            on_progress(report)
        if report.failed and report.failed_in_a_row >= min(most_failed, report.handled):
            raise _unfinished(report)
        return report

    def _todo(self, chosen: Chosen) -> tuple[list[str], int]:
        """Ids of documents to build in their order, and the number of those built already."""
        built, mine = self.kept.keys(), recipe(self.model.name)
        whole = (id_ for id_, each in sorted(self.ledger.known().items()) if each.is_whole)
        ids = [id_ for id_ in whole if fnmatchcase(id_, chosen.pattern)]
        done = {
            document.id
            for document in self._documents([id_ for id_ in ids if id_ in built])
            if built[document.id] == (text_hash(document), mine)
        }
        late = {id_: place for place, id_ in enumerate(self._failures(), start=1)}
        todo = sorted((id_ for id_ in ids if id_ not in done), key=lambda id_: late.get(id_, 0))
        return todo[: chosen.limit or None], len(done)

    def _failures(self) -> dict[str, UnbuiltPart]:
        """What the model failed at in the documents' present texts, the last one tried behind."""
        failures = {part.document_id: part for part in self.kept.failures(recipe(self.model.name))}
        texts = {each.id: text_hash(each) for each in self._documents(list(failures))}
        return {id_: part for id_, part in failures.items() if texts.get(id_) == part.text_hash}

    def _documents(self, ids: Sequence[str]) -> Iterator[Document]:
        found = (self.stores.documents.get(id_) for id_ in ids)
        return (document for document in found if document is not None)

    def _parts(self, ids: Sequence[str], goes_on: Callable[[], bool]) -> Iterator[Part]:
        """Parts as they are finished, several documents at a time.

        No document is begun that `goes_on` does not want, nor after an error; those in work are
        finished first.
        """
        builder = DocumentBuilder(
            self.model,
            RecentVectors(self.stores.embedder, _REMEMBERED),
            max_tokens=self.settings.graph_answer_tokens,
        )
        waiting, at_once = self._documents(ids), self.settings.graph_documents
        working: set[Future[Part]] = set()
        failure: BaseException | None = None
        with ThreadPoolExecutor(at_once) as pool, closing(builder):
            while True:
                if failure is not None or not goes_on():
                    builder.hurry()
                else:
                    new = islice(waiting, at_once - len(working))
                    working |= {
                        pool.submit(copy_context().run, self._build, builder, document)
                        for document in new
                    }
                if not working:
                    break
                finished, working = wait(working, return_when=FIRST_COMPLETED)
                for future in finished:
                    failure = failure or future.exception()
                    if future.exception() is None:
                        yield future.result()
        if failure is not None:
            raise failure

    def _build(self, builder: DocumentBuilder, document: Document) -> Part:
        structural = self.pipeline.extract(document)
        return builder.build(document, self.pipeline.split(document), structural)

    def _noted(self, report: BuildReport, part: Part) -> BuildReport:
        if isinstance(part, UnbuiltPart):
            return self._noted_failure(report, part)
        compared = self._write(part)
        BUILT_DOCUMENTS.labels("overtaken" if compared is None else "built").inc()
        dropped = part.tally.sentences_unsupported
        BUILT_SENTENCES.labels("unsupported").inc(dropped)
        BUILT_SENTENCES.labels("kept").inc(part.tally.sentences - dropped)
        _log.info("ingestion.graph_built", document_id=part.document_id, **part.tally.model_dump())
        return report.model_copy(
            update={
                "built": report.built + (compared is not None),
                "overtaken": report.overtaken + (compared is None),
                "failed_in_a_row": 0,
                "tally": report.tally + part.tally,
                "comparison": report.comparison + (compared or Comparison()),
            }
        )

    def _noted_failure(self, report: BuildReport, part: UnbuiltPart) -> BuildReport:
        self._postpone(part)
        BUILT_DOCUMENTS.labels("failed").inc()
        failed = FailedDocument(document_id=part.document_id, reason=part.reason)
        _log.warning("ingestion.graph_failed", **failed.model_dump())
        return report.model_copy(
            update={
                "failed": (*report.failed, failed),
                "failed_in_a_row": report.failed_in_a_row + 1,
                "tally": report.tally + part.tally,
            }
        )

    def _postpone(self, part: UnbuiltPart) -> None:
        """Put the document behind the others, unless it is gone or was built meanwhile."""
        source = self.ledger.source(part.document_id)
        if source is None:
            return
        with source_lock(self.database, source, self.locks):
            document = self.stores.documents.get(part.document_id)
            if document is None or text_hash(document) != part.text_hash:
                return
            built = self.kept.of(document)
            if built is None or built.recipe != part.recipe:
                self.kept.put_failure(part)

    def _write(self, part: BuiltPart) -> Comparison | None:
        """The part into graph and vectors; None where its text is no longer the document's."""
        id_ = part.document_id
        source = self.ledger.source(id_)
        if source is None:
            return None
        with source_lock(self.database, source, self.locks):
            document = self.stores.documents.get(id_)
            if document is None or text_hash(document) != part.text_hash:
                return None
            structural = list(self.pipeline.extract(document))
            nodes = joined(structural, part.nodes)
            held = self.ledger.held([id_])[id_]
            chunk_ids, node_ids = sorted(held.chunk_ids), sorted({node.id for node in nodes})
            self.ledger.hold({id_: (chunk_ids, node_ids)}, beside_old=True)
            self.stores.write_nodes(id_, nodes, held, batch=self.settings.batch_texts)
            self.ledger.hold({id_: (chunk_ids, node_ids)}, beside_old=False)
            self.kept.put(part)
        return compare(structural, part.nodes)


def _unfinished(report: BuildReport) -> GraphUnfinishedError:
    return GraphUnfinishedError(
        f"the model failed at {report.failed_in_a_row} documents in a row, at the first with: "
        f"{report.failed[-report.failed_in_a_row].reason}; {report.built} of {report.total} "
        "documents are built and stay, the same command goes on with the others"
    )
