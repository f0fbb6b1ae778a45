"""What the documents that were found tell to do: the stored readings, or what the rules read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import structlog

from services.contracts.retrieval import PageReading
from services.knowledge.document.page_origin import page_origin
from services.knowledge.model import UsableDocument
from services.knowledge.ports import DocumentStore
from services.knowledge.screening.document import hash_of
from services.procedure.model import Reading
from services.procedure.ports import ReadingSource, ServedReading
from services.procedure.rules import read_by_rules

_KEPT = 1024
"""Pages kept as the rules read them: some 10 MB."""

_log = structlog.get_logger()

ReadPage = Callable[[str], Reading]
"""Reads a page's text without asking anybody."""


class NoReadings:
    """Nobody has read anything. Implements `procedure.ports.ReadingSource`."""

    def served_many(self, text_hashes: Sequence[str]) -> dict[str, ServedReading]:  # noqa: ARG002
        """See `ReadingSource.served_many`."""
        return {}


@dataclass(frozen=True)
class _Keyed:
    """A document as the argument of a cache that looks at its key alone."""

    key: str
    document: UsableDocument = field(compare=False)


class Pages:
    """Readings of documents: the stored one of the text as it stands, else one by rules."""

    def __init__(
        self,
        documents: DocumentStore,
        readings: ReadingSource,
        *,
        read: ReadPage = read_by_rules,
        kept: int = _KEPT,
    ) -> None:
        """Of the pages asked for last, `kept` are not read by rules again."""
        self._documents = documents
        self._readings = readings
        self._read = read
        self._by_rules = lru_cache(maxsize=kept)(self._read_by_rules)

    def of(self, scores: Mapping[str, float]) -> tuple[PageReading, ...]:
        """The readings of these documents, in their order; each value is a document's relevance.

        A document that is gone, or that cannot be read, is left out.
        """
        documents = self._documents.usable(list(scores))
        used = (documents[id_] for id_ in scores if id_ in documents)
        found = [_Keyed(hash_of(document.text), document) for document in used]
        stored = self._readings.served_many(list(dict.fromkeys(page.key for page in found)))
        served = {page: stored.get(page.key) or self._by_rules(page) for page in found}
        return tuple(
            PageReading(
                document_id=page.document.id,
                title=page.document.title,
                served=reading,
                score=scores[page.document.id],
                text=page.document.text,
                stored_text=page.document.stored_text,
                origin=page_origin(page.document.front_matter),
            )
            for page in found
            if (reading := served[page]) is not None
        )

    def _read_by_rules(self, page: _Keyed) -> ServedReading | None:
        try:
            return ServedReading(reading=self._read(page.document.text))
        except Exception:  # noqa: BLE001 - the entry point of one page's reading
            # A defect to mend, but no reason to leave a ticket without the other pages.
            _log.exception("retrieval.page_not_read", document_id=page.document.id)
            return None
