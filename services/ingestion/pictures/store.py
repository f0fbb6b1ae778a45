"""Pictures of documents in a table: each document has its own, so that they go with it."""

from collections.abc import Iterable, Sequence

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from services.contracts.pictures import PagePicture, PictureFile
from services.ingestion.pictures.taking import HELD_BY_DOCUMENT, TakenPicture
from services.ingestion.tables import IngestedRow, PictureRow
from services.kit.batches import batches
from services.kit.sql.database import Database


class PictureStore:
    """Reads and writes the rows; a method that takes a session is part of its transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def replace(
        self, document_id: str, pictures: Iterable[TakenPicture], *, keeps_held: bool = False
    ) -> None:
        """Make these the document's pictures; with `keeps_held` beside those its file holds."""
        with self._database.session() as session:
            mine = PictureRow.document_id == document_id
            gone = mine & (PictureRow.fingerprint != HELD_BY_DOCUMENT) if keeps_held else mine
            session.execute(delete(PictureRow).where(gone))
            session.add_all(_row(document_id, picture) for picture in pictures)
            looked_for = update(IngestedRow).where(IngestedRow.document_id == document_id)
            session.execute(looked_for.values(pictures_taken=True))

    def fingerprints(self, document_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return those of the documents' pictures by path; documents without any are left out."""
        found: dict[str, dict[str, str]] = {}
        columns = (PictureRow.document_id, PictureRow.path, PictureRow.fingerprint)
        with self._database.session() as session:
            for some in batches(document_ids):
                mine = select(*columns).where(PictureRow.document_id.in_(some))
                for document_id, path, fingerprint in session.execute(mine):
                    found.setdefault(document_id, {})[path] = fingerprint
        return found

    def of_document(self, document_id: str) -> list[PagePicture]:
        """Return what is known of the document's pictures, without their bytes, by path."""
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


def _row(document_id: str, picture: TakenPicture) -> PictureRow:
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
