"""The pictures of documents, as pages show them."""

from services.contracts.pictures import PagePicture, PictureFile, PictureNotFoundError
from services.ingestion.pictures.store import PictureStore
from services.kit.sql.database import Database


class PictureService:
    """See `contracts.ingestion.Ingestion`."""

    def __init__(self, database: Database) -> None:
        self._pictures = PictureStore(database)

    def pictures(self, document_id: str) -> list[PagePicture]:
        """See `Ingestion.pictures`."""
        return self._pictures.of_document(document_id)

    def picture(self, document_id: str, content_hash: str) -> PictureFile:
        """See `Ingestion.picture`."""
        found = self._pictures.file(document_id, content_hash)
        if found is None:
            raise PictureNotFoundError(
                f"{document_id!r} has no picture of the hash {content_hash!r}"
            )
        return found
