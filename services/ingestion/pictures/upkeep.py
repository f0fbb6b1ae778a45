"""The pictures of documents kept in step with the files that these name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from services.ingestion.pictures.store import PictureStore
from services.ingestion.pictures.taking import (
    HELD_BY_DOCUMENT,
    PictureSources,
    fingerprint_of,
    picture_paths,
    take,
)
from services.ingestion.roots.scan import FileFinder
from services.kit.batches import batches
from services.knowledge.model import Document
from services.knowledge.ports import DocumentStore


@dataclass(frozen=True)
class PictureUpkeep:
    """Takes pictures in with their documents, renews them, and forgets them."""

    store: PictureStore
    documents: DocumentStore

    def take(self, document: Document, sources: PictureSources) -> None:
        """Make the pictures that a new version of a document names its own."""
        paths = picture_paths(document.text, document.id)
        self.store.replace(document.id, take(paths, document.id, sources))

    def renew(self, finders: Mapping[str, FileFinder], *, without: Iterable[str]) -> None:
        """Take the pictures of unchanged documents anew whose files are others now.

        Args:
            finders: Of each document's root, by the document's id.
            without: Ids of documents whose pictures nobody has looked for yet.
        """
        for some in batches(sorted(finders)):
            for document_id, known in self.store.fingerprints(some).items():
                if _differ(known, finders[document_id]):
                    self._renew(document_id, finders[document_id])
        for document_id in without:
            self._renew(document_id, finders[document_id])

    def forget(self, session: Session, document_ids: Sequence[str]) -> None:
        """Remove all pictures of documents that are removed."""
        self.store.forget(session, document_ids)

    def _renew(self, document_id: str, find: FileFinder) -> None:
        document = self.documents.get(document_id)
        if document is None:
            return
        known = self.store.fingerprints([document_id]).get(document_id, {})
        held = {path for path, each in known.items() if each == HELD_BY_DOCUMENT}
        paths = [each for each in picture_paths(document.text, document_id) if each not in held]
        pictures = take(paths, document_id, PictureSources(find, {}))
        self.store.replace(document_id, pictures, keeps_held=True)


def _differ(known: Mapping[str, str], find: FileFinder) -> bool:
    """Whether one of the files is another than the known one."""
    return any(
        fingerprint not in {HELD_BY_DOCUMENT, fingerprint_of(path, find)}
        for path, fingerprint in known.items()
    )
