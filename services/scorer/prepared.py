"""Scores that hang on pages alone, looked up by all that they are made of."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import structlog
from pydantic import ValidationError

from services.contracts.retrieval import PageReading
from services.kit.errors import UnavailableError
from services.kit.recent import Recent
from services.kit.versions import version_of
from services.knowledge.screening.document import hash_of
from services.procedure.ports import PreparedStore
from services.scorer.criteria.page_scores import PageScores
from services.scorer.metrics import PREPARED
from services.workflow.model import Workflow

_KEPT = 2048
"""Records in memory: some 10 MB."""
_DECIDES = version_of(
    "scorer/**/*.py",
    "grounding/*.py",
    "procedure/**/*.py",
    "workflow/**/*.py",
    "language/*.py",
    "language/*.json",
    "knowledge/document/*.py",
)

_log = structlog.get_logger()

Judge = Callable[[Workflow, Sequence[PageReading]], PageScores]


class _Asked(NamedTuple):
    """A workflow and the pages that it cites."""

    workflow: Workflow
    pages: Sequence[PageReading]


class Prepared:
    """Looks a workflow's scores up; what is not known is judged, and kept for the next ticket."""

    def __init__(
        self, judge: Judge, store: PreparedStore | None, *, fit: str, embedder: str
    ) -> None:
        """`fit` and `embedder` name what `judge` hangs on beside the code."""
        self._judge = judge
        self._store = store
        self._recent: Recent[str, PageScores] = Recent(_KEPT)
        self.version = hashlib.sha256(f"{_DECIDES} {fit} {embedder}".encode()).hexdigest()[:16]

    def of(
        self, workflows: Sequence[Workflow], pages: Sequence[PageReading]
    ) -> list[PageScores] | None:
        """The scores of each; None where the text of a page that one cites is not among these."""
        texts = {page.document_id: page for page in pages if page.text}
        asked: dict[str, _Asked] = {}
        keys: list[str] = []
        for workflow in workflows:
            cited = _cited(workflow)
            if not cited or cited.keys() - texts.keys():
                return None
            own = [texts[id_] for id_ in cited]
            keys.append(self.key(workflow, own))
            asked[keys[-1]] = _Asked(workflow, own)
        found = self._recent.known(list(asked))
        PREPARED.labels("memory").inc(len(found))
        found |= self._stored(asked.keys() - found.keys())
        found |= {k: self._made(k, each) for k, each in asked.items() if k not in found}
        self._recent.keep(found)
        return [found[key] for key in keys]

    def key(self, workflow: Workflow, pages: Sequence[PageReading]) -> str:
        """Stands for all that its scores hang on: steps, texts, approvals and this version."""
        content = workflow.model_dump_json(include={"steps", "transitions"})
        reader = workflow.provenance.reader if workflow.provenance else ""
        whole = hashlib.sha256(f"{self.version} {reader} {content}".encode())
        for page in pages:
            whole.update(f"\n{page.document_id}\n{hash_of(page.text)}".encode())
            for procedure in page.approved:
                whole.update(procedure.model_dump_json().encode())
        return whole.hexdigest()

    def keep(self, text_hash: str, workflows: Sequence[Workflow], page: PageReading) -> list[str]:
        """Judge what is served of a page ahead of its tickets; the keys of what is kept."""
        keys = {self.key(workflow, [page]): workflow for workflow in workflows}
        if self._store is not None:
            known = self._store.known(list(keys))
            made = {
                key: self._judge(workflow, [page]).model_dump_json()
                for key, workflow in keys.items()
                if key not in known
            }
            self._store.keep(text_hash, self.version, made)
        return list(keys)

    def _stored(self, keys: set[str]) -> Mapping[str, PageScores]:
        found: dict[str, PageScores] = {}
        try:
            records = self._store.known(keys) if self._store is not None and keys else {}
        except UnavailableError as error:  # a record saves time, and nothing else
            _log.warning("scorer.records_unavailable", reason=str(error)[:200])
            records = {}
        for key, record in records.items():
            try:
                found[key] = PageScores.model_validate_json(record)
            except ValidationError as error:
                _log.warning("scorer.record_damaged", key=key, reason=str(error)[:200])
        PREPARED.labels("stored").inc(len(found))
        return found

    def _made(self, key: str, asked: _Asked) -> PageScores:
        PREPARED.labels("made").inc()
        scores = self._judge(asked.workflow, asked.pages)
        # Of several pages nothing is kept: it would have to go with each of them.
        if self._store is not None and len(asked.pages) == 1:
            text_hash = hash_of(asked.pages[0].text)
            try:
                self._store.keep(text_hash, self.version, {key: scores.model_dump_json()})
            except UnavailableError as error:
                _log.warning("scorer.record_not_kept", reason=str(error)[:200])
        return scores


def _cited(workflow: Workflow) -> dict[str, None]:
    return dict.fromkeys(c.document_id for step in workflow.steps for c in step.citations)
