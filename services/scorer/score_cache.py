"""Cache of scores that depend on pages alone, filled by tickets and ahead of them."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import structlog
from pydantic import ValidationError

from services.contracts.planner import SERVED_BY
from services.contracts.retrieval import PageReading
from services.kit.errors import UnavailableError
from services.kit.lru_cache import LruCache
from services.kit.versions import hash_sources
from services.knowledge.ports import DocumentStore
from services.knowledge.screening.document import ScreenedDocument, hash_of
from services.runbook.checking.approvals import ApprovalUse
from services.runbook.ports import PreparedStore, ReadingSource, ServedReading
from services.runbook.serving import draw
from services.scorer.metrics import PREPARED
from services.scorer.page_scores import PageScores
from services.workflow.model import Provenance, Workflow

EVERY_S = 30.0
_TEXTS_AT_ONCE = 10
_LONGEST_PAUSE_S = 1.0
_KEPT = 2048
"""Records in memory: some 10 MB."""
_CODE_VERSION = hash_sources(
    "scorer/**/*.py",
    "grounding/*.py",
    "runbook/**/*.py",
    "workflow/**/*.py",
    "workflow/**/*.yaml",
    "language/*.py",
    "language/*.json",
    "knowledge/document/*.py",
)

_log = structlog.get_logger()

Judge = Callable[[Workflow, Sequence[PageReading]], PageScores]


class _WorkflowPages(NamedTuple):
    """A workflow and the pages that it cites."""

    workflow: Workflow
    pages: Sequence[PageReading]


class PageScoreCache:
    """Cache of a workflow's scores; a missing one is judged, and kept for the next ticket."""

    def __init__(
        self, judge: Judge, store: PreparedStore | None, *, fit: str, embedder: str
    ) -> None:
        """Create the cache; `fit` and `embedder` name what `judge` depends on beside the code."""
        self._judge = judge
        self._store = store
        self._recent: LruCache[str, PageScores] = LruCache(_KEPT)
        self.version = hashlib.sha256(f"{_CODE_VERSION} {fit} {embedder}".encode()).hexdigest()[:16]

    def of(
        self, workflows: Sequence[Workflow], pages: Sequence[PageReading]
    ) -> list[PageScores] | None:
        """Return the scores of each workflow; None if the text of a cited page is missing."""
        texts = {page.document_id: page for page in pages if page.text}
        by_key: dict[str, _WorkflowPages] = {}
        keys: list[str] = []
        for workflow in workflows:
            cited = dict.fromkeys(c.document_id for step in workflow.steps for c in step.citations)
            if not cited or cited.keys() - texts.keys():
                return None
            own = [texts[id_] for id_ in cited]
            keys.append(self.key(workflow, own))
            by_key[keys[-1]] = _WorkflowPages(workflow, own)
        scores = self._recent.get_many(list(by_key))
        PREPARED.labels("memory").inc(len(scores))
        scores |= self._load(by_key.keys() - scores.keys())
        scores |= {
            k: self._judge_and_store(k, each) for k, each in by_key.items() if k not in scores
        }
        self._recent.keep(scores)
        return [scores[key] for key in keys]

    def key(self, workflow: Workflow, pages: Sequence[PageReading]) -> str:
        """Return the key of all that scores depend on: steps, texts, approvals and this version."""
        content = workflow.model_dump_json(include={"steps", "transitions"})
        reader = workflow.provenance.reader if workflow.provenance else ""
        whole = hashlib.sha256(f"{self.version} {reader} {content}".encode())
        for page in pages:
            whole.update(f"\n{page.document_id}\n{hash_of(page.text)}".encode())
            for procedure in page.approved_for(ApprovalUse.FACTS):
                whole.update(procedure.model_dump_json().encode())
        return whole.hexdigest()

    def keep(self, text_hash: str, workflows: Sequence[Workflow], page: PageReading) -> list[str]:
        """Judge served workflows of a page ahead of its tickets; return the keys of the records."""
        keys = {self.key(workflow, [page]): workflow for workflow in workflows}
        if self._store is not None:
            existing = self._store.get_many(list(keys))
            records = {
                key: self._judge(workflow, [page]).model_dump_json()
                for key, workflow in keys.items()
                if key not in existing
            }
            self._store.keep(text_hash, self.version, records)
        return list(keys)

    def _load(self, keys: set[str]) -> Mapping[str, PageScores]:
        scores: dict[str, PageScores] = {}
        try:
            records = self._store.get_many(keys) if self._store is not None and keys else {}
        except UnavailableError as error:  # a record saves time, and nothing else
            _log.warning("scorer.records_unavailable", reason=str(error)[:200])
            records = {}
        for key, record in records.items():
            try:
                scores[key] = PageScores.model_validate_json(record)
            except ValidationError as error:
                _log.warning("scorer.record_damaged", key=key, reason=str(error)[:200])
        PREPARED.labels("stored").inc(len(scores))
        return scores

    def _judge_and_store(self, key: str, item: _WorkflowPages) -> PageScores:
        PREPARED.labels("made").inc()
        scores = self._judge(item.workflow, item.pages)
        # Of several pages nothing is kept: it would have to go with each of them.
        if self._store is not None and len(item.pages) == 1:
            text_hash = hash_of(item.pages[0].text)
            try:
                self._store.keep(text_hash, self.version, {key: scores.model_dump_json()})
            except UnavailableError as error:
                _log.warning("scorer.record_not_kept", reason=str(error)[:200])
        return scores


class ScorePreparation:
    """Job that scores what has changed since the last time; tickets need not wait for it.

    Two processes may run it at once: a record is named by its content. Records of another version
    are made again only once after the start, so that two versions side by side do not take turns.
    """

    def __init__(
        self,
        documents: DocumentStore,
        readings: ReadingSource,
        store: PreparedStore,
        prepared: PageScoreCache,
    ) -> None:
        self._documents = documents
        self._readings = readings
        self._store = store
        self._prepared = prepared
        self._version: str | None = prepared.version
        """Version whose work is pending; None once it has been through all texts."""

    def run(self) -> bool:
        """Prepare some of the pending texts; return True if there were any."""
        waiting = self._store.waiting(self._version, _TEXTS_AT_ONCE)
        if not waiting:
            self._version = None
        served = self._readings.served_many(list(waiting))
        for text_hash, seen_at in waiting.items():
            started = time.monotonic()
            keys = self._prepare(text_hash, served[text_hash]) if text_hash in served else ()
            self._store.done(text_hash, self._prepared.version, seen_at, keys)
            time.sleep(min(_LONGEST_PAUSE_S, time.monotonic() - started))  # tickets go first
        return bool(waiting)

    def _prepare(self, text_hash: str, served: ServedReading) -> Sequence[str]:
        keys: list[str] = []
        for document in self._documents.of_text(text_hash):
            try:
                keys += self._of_document(document, text_hash, served)
            except Exception:  # noqa: BLE001 - the entry point of one page's preparing
                # A defect to mend; a ticket that needs the page is answered, or says so itself.
                _log.exception("scorer.page_not_prepared", document_id=document.id)
        return keys

    def _of_document(
        self, document: ScreenedDocument, text_hash: str, served: ServedReading
    ) -> Sequence[str]:
        usable = document.for_model()
        page = PageReading(
            document_id=usable.id, title=usable.title, served=served, text=usable.text
        )
        origin = Provenance(planner=SERVED_BY, reader=served.reading.reader.value)
        drawn = [
            draw(served, place, document.id).model_copy(update={"provenance": origin})
            for place in range(len(served.reading.procedures))
        ]
        return self._prepared.keep(text_hash, drawn, page)
