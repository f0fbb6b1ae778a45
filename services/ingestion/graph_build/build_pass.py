"""A model's pass over the documents, which builds their part of the graph."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import structlog

from services.contracts.ingestion import FailedDocument
from services.grounding.vectors import RecentVectors
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.graph_build.comparison import GraphComparison, compare
from services.ingestion.graph_build.counts import BuildCounts
from services.ingestion.graph_build.document import BuiltPart, DocumentBuilder, UnbuiltPart
from services.ingestion.graph_build.estimate import Estimate, estimate
from services.ingestion.graph_build.join import joined
from services.ingestion.graph_build.part_store import PartStore
from services.ingestion.graph_build.questions import recipe
from services.ingestion.jobs.lock import source_lock
from services.ingestion.jobs.stores import Stores
from services.ingestion.metrics import BUILT_DOCUMENTS, BUILT_SENTENCES
from services.ingestion.model_pass import ModelPass, PassBounds, PassReport, todo
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline
from services.kit.sql.database import Database
from services.knowledge.model import Document
from services.knowledge.screening.document import text_hash
from services.llm.guard import GuardedChatModel

_REMEMBERED = 20_000

_log = structlog.get_logger()


class ChosenDocuments(PassBounds):
    """Which documents to build, and when to stop."""

    pattern: str = "*"
    """Shell pattern over document ids; `*` crosses folders."""


class BuildReport(PassReport):
    """What a pass has done so far."""

    built: int = 0
    overtaken: int = 0
    """Documents that were changed while the model read them; the next pass builds them."""
    tally: BuildCounts = BuildCounts()
    comparison: GraphComparison = GraphComparison()

    @property
    def done(self) -> int:
        """Documents that are built."""
        return self.built

    @property
    def tokens(self) -> int:
        """Spent, in and out."""
        return self.tally.tokens

    @property
    def handled(self) -> int:
        """Those that were changed meanwhile included."""
        return super().handled + self.overtaken


Part = BuiltPart | UnbuiltPart
OnBuilt = Callable[[BuildReport], None]


@dataclass(frozen=True)
class BuildPass:
    """Builds what is new or changed, in the order of the ids, each document as a whole."""

    database: Database
    ledger: Ledger
    stores: Stores
    structure: Pipeline
    parts: PartStore
    settings: IngestionSettings
    locks: Path
    model: GuardedChatModel

    def estimate(self, chosen: ChosenDocuments) -> Estimate:
        """What `run` would cost; asks the model nothing."""
        ids, unchanged = self._todo(chosen)
        late = {id_: part.reason for id_, part in self._failures().items()}
        failed = [FailedDocument(document_id=i, reason=late[i]) for i in ids if i in late]
        chunks = (self.structure.split(document) for document in self._documents(ids))
        past = self.parts.tallies(recipe(self.model.name))
        return estimate(
            chunks, self.stores.embedder.count_tokens, past, built=unchanged, failed=failed
        )

    def run(
        self, chosen: ChosenDocuments, on_progress: OnBuilt = lambda _report: None
    ) -> BuildReport:
        """Build them; those that failed before come last.

        Raises:
            PassUnfinishedError: See `ModelPass.run`.
            StoreUnavailableError: A store did not answer.
        """
        ids, unchanged = self._todo(chosen)
        builder = DocumentBuilder(
            self.model,
            RecentVectors(self.stores.embedder, _REMEMBERED),
            max_tokens=self.settings.graph_answer_tokens,
        )
        model_pass = ModelPass(
            work=partial(self._build, builder),
            record=self._record,
            hurry=builder.hurry,
            close=builder.close,
            at_once=self.settings.graph_documents,
            done="documents are built",
        )
        report = BuildReport(total=len(ids), unchanged=unchanged)
        return model_pass.run(self._documents(ids), report, chosen, on_progress)

    def _todo(self, chosen: ChosenDocuments) -> tuple[list[str], int]:
        """Ids of documents to build in their order, and the number of those built already."""
        built, mine = self.parts.keys(), recipe(self.model.name)
        whole = (id_ for id_, each in sorted(self.ledger.known().items()) if each.is_whole)
        ids = [id_ for id_ in whole if fnmatchcase(id_, chosen.pattern)]
        done = {
            document.id
            for document in self._documents([id_ for id_ in ids if id_ in built])
            if built[document.id] == (text_hash(document), mine)
        }
        return todo(ids, done, self._failures(), limit=chosen.limit), len(done)

    def _failures(self) -> dict[str, UnbuiltPart]:
        """What the model failed at in the documents' present texts, the last one tried behind."""
        failures = {part.document_id: part for part in self.parts.failures(recipe(self.model.name))}
        texts = {each.id: text_hash(each) for each in self._documents(list(failures))}
        return {id_: part for id_, part in failures.items() if texts.get(id_) == part.text_hash}

    def _documents(self, ids: Sequence[str]) -> Iterator[Document]:
        found = (self.stores.documents.get(id_) for id_ in ids)
        return (document for document in found if document is not None)

    def _build(self, builder: DocumentBuilder, document: Document) -> Part:
        structural = self.structure.extract(document)
        return builder.build(document, self.structure.split(document), structural)

    def _record(self, report: BuildReport, part: Part) -> BuildReport:
        report = report.model_copy(update={"tally": report.tally + part.tally})
        if isinstance(part, UnbuiltPart):
            self._postpone(part)
            BUILT_DOCUMENTS.labels("failed").inc()
            failed = FailedDocument(document_id=part.document_id, reason=part.reason)
            _log.warning("ingestion.graph_failed", **failed.model_dump())
            return report.with_failure(failed)
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
                "comparison": report.comparison + (compared or GraphComparison()),
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
            built = self.parts.of(document)
            if built is None or built.recipe != part.recipe:
                self.parts.put_failure(part)

    def _write(self, part: BuiltPart) -> GraphComparison | None:
        """The part into graph and vectors; None where its text is no longer the document's."""
        id_ = part.document_id
        source = self.ledger.source(id_)
        if source is None:
            return None
        with source_lock(self.database, source, self.locks):
            document = self.stores.documents.get(id_)
            if document is None or text_hash(document) != part.text_hash:
                return None
            structural = list(self.structure.extract(document))
            nodes = joined(structural, part.nodes)
            held = self.ledger.held([id_])[id_]
            chunk_ids, node_ids = sorted(held.chunk_ids), sorted({node.id for node in nodes})
            self.ledger.hold({id_: (chunk_ids, node_ids)}, beside_old=True)
            self.stores.write_nodes(id_, nodes, held, batch=self.settings.batch_texts)
            self.ledger.hold({id_: (chunk_ids, node_ids)}, beside_old=False)
            self.parts.put(part)
        return compare(structural, part.nodes)
