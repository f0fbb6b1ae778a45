"""Lookup of documents by the hash of their text, and of texts by their hash."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.ingestion.catalogue.ledger import Ledger
from services.knowledge.naming import find_document
from services.knowledge.ports import DocumentStore

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class TextIndex:
    """Texts that the ingested documents have now."""

    ledger: Ledger
    documents: DocumentStore

    def hashes(self, *, source: str | None = None) -> dict[str, str]:
        """Return the hash of the text by document, of all or of one root, in the order of ids.

        Documents that an older version ingested are hashed on the first call.
        """
        noted = self.ledger.text_hashes(source=source)
        missing = self._hashed(id_ for id_, own in noted.items() if not own)
        if missing:
            self.ledger.note_texts(missing)
        return {id_: hashed for id_ in noted if (hashed := noted[id_] or missing.get(id_, ""))}

    def of_documents(self, document_ids: Sequence[str]) -> dict[str, str]:
        """Return the hash of the text by document, of these documents."""
        noted = self.ledger.text_hashes(document_ids)
        missing = self._hashed(id_ for id_, own in noted.items() if not own)
        return {id_: own or missing.get(id_, "") for id_, own in noted.items()}

    def ids_of(self, hashed: str) -> list[str]:
        """Return ids of the documents that have the text, in their order."""
        ids = self.ledger.with_texts([hashed]).get(hashed)
        return ids or [id_ for id_, each in self.hashes().items() if each == hashed]

    def hash_of(self, page: str) -> str | None:
        """Return the hash of the text of a page, named by it or by its document.

        The beginning of the hash, or the end of the document's id, will do.

        Raises:
            AmbiguousIdError: Several hashes begin so, or ids end so.
        """
        if _HASH.fullmatch(page):
            return page
        document = self.documents.get(page)
        if document is None:
            hashed = self.ledger.complete_hash(page)
            if hashed is not None:
                return hashed
            document = find_document(self.documents, page)
        return document.text_hash if document is not None else None

    def text(self, hashed: str) -> str | None:
        """Return the text as it is used, or None if no document has it any more."""
        for id_ in self.ids_of(hashed):
            document = self.documents.get(id_)
            if document is not None and document.text_hash == hashed:
                return document.for_model().text
        return None

    def _hashed(self, document_ids: Iterable[str]) -> dict[str, str]:
        documents = (self.documents.get(id_) for id_ in document_ids)
        return {document.id: document.text_hash for document in documents if document is not None}
