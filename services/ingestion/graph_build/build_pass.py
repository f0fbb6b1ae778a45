"""Pass of a model over the documents, which builds their part of the graph."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import structlog

from services.contracts.ingestion import FailedDocument
from services.grounding.grounder import RecentVectors
from services.ingestion.graph_build.comparison import GraphComparison, compare
from services.ingestion.graph_build.document import BuiltPart, DocumentBuilder, UnbuiltPart
from services.ingestion.graph_build.estimate import BuildCounts, Estimate, estimate
from services.ingestion.graph_build.incidents import add_model_nodes
from services.ingestion.graph_build.part_store import PartStore
from services.ingestion.graph_build.questions import recipe
from services.ingestion.jobs.lock import source_lock
from services.ingestion.jobs.parts import JobParts
from services.ingestion.metrics import BUILT_DOCUMENTS, BUILT_SENTENCES
from services.ingestion.model_pass import ModelPass, PassBounds, PassReport, todo
from services.knowledge.screening.document import ScreenedDocument
from services.llm.guard import GuardedChatModel

_REMEMBERED = 20_000

_log = structlog.get_logger()


class ChosenDocuments(PassBounds):
    """Choice of the documents to build, with the bounds of the pass."""

    pattern: str = "*"
    """Shell pattern over document ids; `*` crosses folders."""


class BuildReport(PassReport):
    """Progress of a pass."""

    built: int = 0
    overtaken: int = 0
    """Number of documents changed while the model read them; the next pass builds them."""
    tally: BuildCounts = BuildCounts()
    comparison: GraphComparison = GraphComparison()

    @property
    def done(self) -> int:
        """Number of documents that are built."""
        return self.built

    @property
    def tokens(self) -> int:
        """Tokens spent, in and out."""
        return self.tally.tokens

    @property
    def handled(self) -> int:
        """Number of documents handled, those that were changed meanwhile included."""
        return super().handled + self.overtaken


BuildOutcome = BuiltPart | UnbuiltPart
OnBuilt = Callable[[BuildReport], None]


@dataclass(frozen=True)
class BuildPass:
    """Builder of what is new or changed, in the order of the ids, each document as a whole."""

    parts: JobParts
    built: PartStore
    model: GuardedChatModel

    def estimate(self, chosen: ChosenDocuments) -> Estimate:
        """Estimate the cost of `run` without asking the model."""
        ids, unchanged = self._todo(chosen)
        late = {id_: part.reason for id_, part in self._failures().items()}
        failed = [FailedDocument(document_id=i, reason=late[i]) for i in ids if i in late]
        chunks = (self.parts.structure.split(document) for document in self._documents(ids))
        past = self.built.tallies(recipe(self.model.name))
        return estimate(
            chunks, self.parts.stores.embedder.count_tokens, past, built=unchanged, failed=failed
        )

    def run(
        self, chosen: ChosenDocuments, on_progress: OnBuilt = lambda _report: None
    ) -> BuildReport:
        """Build the chosen documents; those that failed before come last.

        Raises:
            PassUnfinishedError: See `ModelPass.run`.
            StoreUnavailableError: A store did not answer.
        """
        ids, unchanged = self._todo(chosen)
        builder = DocumentBuilder(
            self.model,
            RecentVectors(self.parts.stores.embedder, _REMEMBERED),
            max_tokens=self.parts.settings.graph_answer_tokens,
        )
        model_pass: ModelPass[ScreenedDocument, BuildOutcome, BuildReport] = ModelPass(
            work=lambda document: builder.build(
                document,
                self.parts.structure.split(document),
                self.parts.structure.extract(document),
            ),
            record=self._record,
            hurry=builder.hurry,
            close=builder.close,
            at_once=self.parts.settings.graph_documents,
            done="documents are built",
        )
        report = BuildReport(total=len(ids), unchanged=unchanged)
        return model_pass.run(self._documents(ids), report, chosen, on_progress)

    def _todo(self, chosen: ChosenDocuments) -> tuple[list[str], int]:
        """Return the ids of documents to build in order, and the number of those built already."""
        built, mine = self.built.keys(), recipe(self.model.name)
        whole = (id_ for id_, each in sorted(self.parts.ledger.entries().items()) if each.is_whole)
        ids = [id_ for id_ in whole if fnmatchcase(id_, chosen.pattern)]
        done = {
            document.id
            for document in self._documents([id_ for id_ in ids if id_ in built])
            if built[document.id] == (document.text_hash, mine)
        }
        return todo(ids, done, self._failures(), limit=chosen.limit), len(done)

    def _failures(self) -> dict[str, UnbuiltPart]:
        """Return failed builds of the documents' present texts, the latest attempt last."""
        failures = {part.document_id: part for part in self.built.failures(recipe(self.model.name))}
        texts = {each.id: each.text_hash for each in self._documents(list(failures))}
        return {id_: part for id_, part in failures.items() if texts.get(id_) == part.text_hash}

    def _documents(self, ids: Sequence[str]) -> Iterator[ScreenedDocument]:
        documents = (self.parts.stores.documents.get(id_) for id_ in ids)
        return (document for document in documents if document is not None)

    def _record(self, report: BuildReport, part: BuildOutcome) -> BuildReport:
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
        source = self.parts.ledger.source(part.document_id)
        if source is None:
            return
        with source_lock(self.parts.database, source, self.parts.locks):
            document = self.parts.stores.documents.get(part.document_id)
            if document is None or document.text_hash != part.text_hash:
                return
            built = self.built.of(document)
            if built is None or built.recipe != part.recipe:
                self.built.put_failure(part)

    def _write(self, part: BuiltPart) -> GraphComparison | None:
        """Write the part to graph and vectors; return None if the document's text has changed."""
        id_ = part.document_id
        source = self.parts.ledger.source(id_)
        if source is None:
            return None
        with source_lock(self.parts.database, source, self.parts.locks):
            document = self.parts.stores.documents.get(id_)
            if document is None or document.text_hash != part.text_hash:
                return None
            structural = list(self.parts.structure.extract(document))
            nodes = add_model_nodes(structural, part.nodes)
            stored = self.parts.ledger.stored_ids([id_])[id_]
            chunk_ids, node_ids = sorted(stored.chunk_ids), sorted({node.id for node in nodes})
            self.parts.ledger.set_contents({id_: (chunk_ids, node_ids)}, beside_old=True)
            self.parts.stores.write_nodes(id_, nodes, stored, batch=self.parts.settings.batch_texts)
            self.parts.ledger.set_contents({id_: (chunk_ids, node_ids)}, beside_old=False)
            self.built.put(part)
        return compare(structural, part.nodes)
