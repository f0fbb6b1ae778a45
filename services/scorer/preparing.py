"""Scores of what is served of all pages, made before a ticket asks for them."""

import time
from collections.abc import Sequence

import structlog

from services.contracts.planner import SERVED_BY
from services.contracts.retrieval import PageReading
from services.knowledge.model import Document
from services.knowledge.ports import DocumentStore
from services.procedure.drawing import draw
from services.procedure.ports import PreparedStore, ReadingSource, ServedReading
from services.scorer.prepared import Prepared
from services.workflow.model import Provenance, Workflow

EVERY_S = 30.0
_AT_ONCE = 10
_LONGEST_PAUSE_S = 1.0

_log = structlog.get_logger()


class Preparing:
    """Works through what has changed since it was last prepared; tickets need not wait for it.

    Two processes may do so at once: what is made is named by its content. What another version has
    made is made again once after the start, so that two versions side by side do not take turns.
    """

    def __init__(
        self,
        documents: DocumentStore,
        readings: ReadingSource,
        store: PreparedStore,
        prepared: Prepared,
    ) -> None:
        self._documents = documents
        self._readings = readings
        self._store = store
        self._prepared = prepared
        self._version: str | None = prepared.version
        """Whose work waits for it; None once it has been through all texts."""

    def run(self) -> bool:
        """Prepare some of the texts that wait; whether there were any.

        Nothing until documents of an older release are found by their texts.
        """
        if self._documents.awaits_renewal():
            return False
        waiting = self._store.waiting(self._version, _AT_ONCE)
        if not waiting:
            self._version = None
        served = self._readings.served_many(list(waiting))
        for text_hash, seen_at in waiting.items():
            began = time.monotonic()
            keys = self._prepare(text_hash, served[text_hash]) if text_hash in served else ()
            self._store.done(text_hash, self._prepared.version, seen_at, keys)
            time.sleep(min(_LONGEST_PAUSE_S, time.monotonic() - began))  # tickets go first
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
        self, document: Document, text_hash: str, served: ServedReading
    ) -> Sequence[str]:
        page = PageReading(
            document_id=document.id, title=document.title, served=served, text=document.text
        )
        places = range(len(served.reading.procedures))
        drawn = [_drawn(served, place, document.id) for place in places]
        return self._prepared.keep(text_hash, drawn, page)


def _drawn(served: ServedReading, place: int, document_id: str) -> Workflow:
    drawn = draw(served, place, document_id)
    origin = Provenance(planner=SERVED_BY, reader=served.reading.reader.value)
    return drawn.model_copy(update={"provenance": origin})
