"""Building the graph over all documents: resumable, incremental, and told while it goes on."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict

from services.grounding.vectors import RecentVectors
from services.ingestion.construction.asking import recipe
from services.ingestion.construction.comparison import Comparison, compare
from services.ingestion.construction.document import BuiltPart, DocumentBuilder
from services.ingestion.construction.estimate import Estimate, estimate
from services.ingestion.construction.join import joined
from services.ingestion.construction.kept import KeptParts
from services.ingestion.construction.tally import Tally
from services.ingestion.ledger import Ledger
from services.ingestion.lock import source_lock
from services.ingestion.metrics import BUILT_DOCUMENTS, BUILT_SENTENCES
from services.ingestion.pipeline import Pipeline
from services.ingestion.settings import IngestionSettings
from services.ingestion.store import Stores
from services.ingestion.text_hash import text_hash
from services.kit.database import Database
from services.kit.errors import FlowXpertError, InvalidInputError
from services.knowledge.model import Document
from services.llm.chat_model import ModelRefusedError, ModelUnavailableError
from services.llm.guard import GuardedChatModel

_REMEMBERED = 20_000

_log = structlog.get_logger()


class GraphUnfinishedError(FlowXpertError):
    """The model failed before all documents were built; those that were stay built."""

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
    unchanged: int = 0
    """Chosen, and built already of this text by this model and these prompts."""
    tally: Tally = Tally()
    comparison: Comparison = Comparison()

    @property
    def left(self) -> int:
        """Documents that a further run would build."""
        return self.total - self.built


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
        chunks = (self.pipeline.split(document) for document in self._documents(todo))
        past = self.kept.tallies(recipe(self.model.name))
        return estimate(chunks, self.stores.embedder.count_tokens, past, built=unchanged)

    def run(self, chosen: Chosen, on_progress: OnBuilt = lambda _report: None) -> BuildReport:
        """Build what is new or changed, in the order of the ids, each document as a whole.

        Whoever kills it loses the documents in work and no other.

        Raises:
            GraphUnfinishedError: The model went away, or refused; what was built stays.
            StoreUnavailableError: A store did not answer.
        """
        todo, unchanged = self._todo(chosen)
        report = BuildReport(total=len(todo), unchanged=unchanged)
        on_progress(report)
        try:
            for part in self._built(todo, chosen.tokens):
                report = self._noted(report, part)
                on_progress(report)
        except (ModelUnavailableError, ModelRefusedError) as error:
            raise GraphUnfinishedError(
                f"{error}; {report.built} of {report.total} documents are built and stay, the same "
                "command goes on with the others"
            ) from error
        return report

    def _todo(self, chosen: Chosen) -> tuple[list[str], int]:
        """Ids of documents to build, and the number of those that are built already."""
        built, mine = self.kept.keys(), recipe(self.model.name)
        whole = (id_ for id_, each in sorted(self.ledger.known().items()) if each.is_whole)
        ids = [id_ for id_ in whole if fnmatchcase(id_, chosen.pattern)]
        done = {
            document.id
            for document in self._documents([id_ for id_ in ids if id_ in built])
            if built[document.id] == (text_hash(document), mine)
        }
        todo = [id_ for id_ in ids if id_ not in done]
        return todo[: chosen.limit or None], len(done)

    def _documents(self, ids: Sequence[str]) -> Iterator[Document]:
        found = (self.stores.documents.get(id_) for id_ in ids)
        return (document for document in found if document is not None)

    def _built(self, ids: Sequence[str], most_tokens: int) -> Iterator[BuiltPart]:
        """Parts as they are finished, several documents at a time.

        After a failure no further document is begun; those in work are finished before it is told.
        """
        builder = DocumentBuilder(
            self.model,
            RecentVectors(self.stores.embedder, _REMEMBERED),
            max_tokens=self.settings.graph_answer_tokens,
        )
        waiting, spent, at_once = self._documents(ids), 0, self.settings.graph_documents
        working: set[Future[BuiltPart]] = set()
        failure: BaseException | None = None
        with ThreadPoolExecutor(at_once) as pool, closing(builder):
            while True:
                if failure is None and not 0 < most_tokens <= spent:
                    new = islice(waiting, at_once - len(working))
                    working |= {pool.submit(self._build, builder, document) for document in new}
                if not working:
                    break
                finished, working = wait(working, return_when=FIRST_COMPLETED)
                for future in finished:
                    failure = failure or future.exception()
                    if future.exception() is None:
                        spent += future.result().tally.tokens
                        yield future.result()
        if failure is not None:
            raise failure

    def _build(self, builder: DocumentBuilder, document: Document) -> BuiltPart:
        structural = self.pipeline.extract(document)
        return builder.build(document, self.pipeline.split(document), structural)

    def _noted(self, report: BuildReport, part: BuiltPart) -> BuildReport:
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
                "tally": report.tally + part.tally,
                "comparison": report.comparison + (compared or Comparison()),
            }
        )

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
