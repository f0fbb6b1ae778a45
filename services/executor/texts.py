"""The text of documents as readings know it."""

from services.knowledge.stores.sql_documents import SqlDocumentStore


class DocumentTexts:
    """Implements `changing.Texts` on the documents in SQL."""

    def __init__(self, documents: SqlDocumentStore) -> None:
        self._documents = documents

    def text_of(self, document_id: str) -> str | None:
        """See `Texts.text_of`."""
        found = self._documents.usable([document_id]).get(document_id)
        return found.text if found else None
