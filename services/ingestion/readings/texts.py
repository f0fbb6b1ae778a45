"""Documents by their text, and texts by their hash."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.ingestion.catalogue.ledger import Ledger
from services.knowledge.ports import DocumentStore
from services.knowledge.screening.document import screened, text_hash


@dataclass(frozen=True)
class Texts:
    """The texts that the ingested documents have now."""

    ledger: Ledger
    documents: DocumentStore

    def hashes(self, *, source: str | None = None) -> dict[str, str]:
        """Hash of the text by document, of all or of one root, in the order of their ids.

        Documents that an older version ingested are hashed when this is first asked.
        """
        known = self.ledger.text_hashes(source=source)
        missing = self._hashed(id_ for id_, found in known.items() if not found)
        if missing:
            self.ledger.note_texts(missing)
        return {id_: hashed for id_ in known if (hashed := known[id_] or missing.get(id_, ""))}

    def of_documents(self, document_ids: Sequence[str]) -> dict[str, str]:
        """Hash of the text by document, of these."""
        known = self.ledger.text_hashes(document_ids)
        missing = self._hashed(id_ for id_, found in known.items() if not found)
        return {id_: found or missing.get(id_, "") for id_, found in known.items()}

    def named(self, hashed: str) -> list[str]:
        """Ids of the documents that have the text, in their order."""
        found = self.ledger.with_texts([hashed]).get(hashed)
        return found or [id_ for id_, each in self.hashes().items() if each == hashed]

    def text(self, hashed: str) -> str | None:
        """The text as it is used; None when no document has it any more."""
        for id_ in self.named(hashed):
            document = self.documents.get(id_)
            if document is not None and text_hash(document) == hashed:
                return screened(document).document.text
        return None

    def _hashed(self, document_ids: Iterable[str]) -> dict[str, str]:
        found = (self.documents.get(id_) for id_ in document_ids)
        return {document.id: text_hash(document) for document in found if document is not None}
