"""Store of documents' pictures in a table, kept in step with the files that documents name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from services.contracts.pictures import PagePicture, PictureFile
from services.ingestion.pictures.page_pictures import (
    EMBEDDED,
    LoadedPicture,
    PictureSources,
    fingerprint_of,
    load_pictures,
    picture_paths,
)
from services.ingestion.roots.scan import FileFinder
from services.ingestion.tables import IngestedRow, PictureRow
from services.kit.batches import batches
from services.kit.sql.database import Database
from services.knowledge.model import Document
from services.knowledge.ports import DocumentStore


class PictureStore:
    """Reader and writer of the rows; a method that takes a session is part of its transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def replace(
        self, document_id: str, pictures: Iterable[LoadedPicture], *, keeps_embedded: bool = False
    ) -> None:
        """Replace the document's pictures, with `keeps_embedded` only those not in its file."""
        with self._database.session() as session:
            mine = PictureRow.document_id == document_id
            gone = mine & (PictureRow.fingerprint != EMBEDDED) if keeps_embedded else mine
            session.execute(delete(PictureRow).where(gone))
            session.add_all(_row(document_id, picture) for picture in pictures)
            looked_for = update(IngestedRow).where(IngestedRow.document_id == document_id)
            session.execute(looked_for.values(pictures_taken=True))

    def fingerprints(self, document_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return fingerprints by path of the documents' pictures, by document.

        Documents without any are left out.
        """
        by_document: dict[str, dict[str, str]] = {}
        columns = (PictureRow.document_id, PictureRow.path, PictureRow.fingerprint)
        with self._database.session() as session:
            for some in batches(document_ids):
                mine = select(*columns).where(PictureRow.document_id.in_(some))
                for document_id, path, fingerprint in session.execute(mine):
                    by_document.setdefault(document_id, {})[path] = fingerprint
        return by_document

    def of_document(self, document_id: str) -> list[PagePicture]:
        """Return the document's pictures without their bytes, by path."""
        names = tuple(PagePicture.model_fields)
        columns = [getattr(PictureRow, name) for name in names]
        mine = select(*columns).where(PictureRow.document_id == document_id)
        with self._database.session() as session:
            rows = session.execute(mine.order_by(PictureRow.path)).all()
        return [PagePicture(**dict(zip(names, row, strict=True))) for row in rows]

    def file(self, document_id: str, content_hash: str) -> PictureFile | None:
        """Return a picture of the document by the hash of its bytes."""
        mine = select(PictureRow.content, PictureRow.media_type).where(
            PictureRow.document_id == document_id,
            PictureRow.content_hash == content_hash,
            PictureRow.content_hash != "",
        )
        with self._database.session() as session:
            row = session.execute(mine.limit(1)).first()
        return PictureFile(*row) if row else None

    def forget(self, session: Session, document_ids: Sequence[str]) -> None:
        """Remove all pictures of these documents."""
        for some in batches(document_ids):
            session.execute(delete(PictureRow).where(PictureRow.document_id.in_(some)))


@dataclass(frozen=True)
class PictureUpkeep:
    """Loader of pictures with their documents, which also renews them."""

    store: PictureStore
    documents: DocumentStore

    def load(self, document: Document, sources: PictureSources) -> None:
        """Replace the document's pictures by those that its new version names."""
        paths = picture_paths(document.text, document.id)
        self.store.replace(document.id, load_pictures(paths, document.id, sources))

    def renew(self, finders: Mapping[str, FileFinder], *, without: Iterable[str]) -> None:
        """Load pictures of unchanged documents again whose files have changed.

        Args:
            finders: Finders of files in each document's root, by the document's id.
            without: Ids of documents whose pictures nobody has looked for yet.
        """
        for some in batches(sorted(finders)):
            for document_id, fingerprints in self.store.fingerprints(some).items():
                find = finders[document_id]
                if any(
                    fingerprint not in {EMBEDDED, fingerprint_of(path, find)}
                    for path, fingerprint in fingerprints.items()
                ):
                    self._renew(document_id, find)
        for document_id in without:
            self._renew(document_id, finders[document_id])

    def _renew(self, document_id: str, find: FileFinder) -> None:
        document = self.documents.get(document_id)
        if document is None:
            return
        fingerprints = self.store.fingerprints([document_id]).get(document_id, {})
        embedded = {path for path, each in fingerprints.items() if each == EMBEDDED}
        paths = [
            each
            for each in picture_paths(document.for_person().text, document_id)
            if each not in embedded
        ]
        pictures = load_pictures(paths, document_id, PictureSources(find, {}))
        self.store.replace(document_id, pictures, keeps_embedded=True)


def _row(document_id: str, picture: LoadedPicture) -> PictureRow:
    form = picture.form
    return PictureRow(
        document_id=document_id,
        path=picture.path,
        fingerprint=picture.fingerprint,
        content_hash=picture.content_hash,
        media_type=form.media_type if form else "",
        width=form.width if form else 0,
        height=form.height if form else 0,
        refusal=picture.refusal,
        content=picture.content,
    )
