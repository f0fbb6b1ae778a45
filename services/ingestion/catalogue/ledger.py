"""Ledger of the ingested documents: the memory that makes ingestion incremental.

A document is *reserved* before the stores are changed and *recorded* after. Between the two its
row names every chunk and node of the old and of the new version, so that a process killed there
leaves nothing behind that the next one cannot find.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from services.contracts.proposals import ACCEPTED_PAGES
from services.ingestion.tables import BuiltRow, IngestedRow, ReviewRow, UnbuiltRow
from services.kit.batches import batches
from services.kit.sql.database import Database
from services.kit.sql.short_ids import complete_short_id


@dataclass(frozen=True)
class LedgerEntry:
    """Record of one document."""

    source: str
    fingerprint: str
    content_hash: str
    pipeline: str
    job_id: str
    has_pictures_taken: bool

    @property
    def is_whole(self) -> bool:
        """True if the stores hold all of it; otherwise a killed job left parts of it."""
        return bool(self.content_hash)


@dataclass(frozen=True)
class MovedFile:
    """Source and fingerprint of a file whose content was already ingested from another place."""

    previous_source: str
    fingerprint: str


@dataclass(frozen=True)
class Version:
    """Version of a document that is being written."""

    document_id: str
    fingerprint: str
    content_hash: str
    title: str
    media_type: str
    chunk_ids: tuple[str, ...]
    node_ids: tuple[str, ...]
    text_hash: str
    """Hash of the text that nodes count lines in."""


@dataclass(frozen=True)
class StoredIds:
    """Ids that the stores may hold of one document, with the outcome to record."""

    chunk_ids: frozenset[str]
    node_ids: frozenset[str]
    outcome: str


@dataclass(frozen=True)
class Reservation:
    """Outcome of reserving documents before they are written."""

    stored: dict[str, StoredIds]
    """Ids that the stores may hold of each document until now."""
    taken: dict[str, str]
    """Documents that belong to another source, with that source; they are not reserved."""


@dataclass(frozen=True)
class SourceCounts:
    """Numbers of the documents of one source."""

    documents: int
    """Documents in all, those that a killed job left half-written included."""
    outdated: int
    """Documents that are whole, and made by another pipeline."""


class Ledger:
    """Reader and writer of the rows; a method that takes a session is part of its transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self) -> dict[str, LedgerEntry]:
        """Return the entries of all documents, by id."""
        statement = select(
            IngestedRow.document_id,
            IngestedRow.source,
            IngestedRow.fingerprint,
            IngestedRow.content_hash,
            IngestedRow.pipeline,
            IngestedRow.job_id,
            IngestedRow.pictures_taken,
        )
        with self._database.session() as session:
            rows = session.execute(statement).tuples()
            return {row[0]: LedgerEntry(*row[1:]) for row in rows}

    def sources(self, pipeline: str) -> dict[str, SourceCounts]:
        """Count the documents of each source, and those that `pipeline` did not make."""
        is_outdated = (IngestedRow.content_hash != "") & (IngestedRow.pipeline != pipeline)
        statement = (
            select(IngestedRow.source, func.count(), func.count().filter(is_outdated))
            .group_by(IngestedRow.source)
            .order_by(IngestedRow.source)
        )
        with self._database.session() as session:
            return {source: SourceCounts(*rest) for source, *rest in session.execute(statement)}

    def source(self, document_id: str) -> str | None:
        """Return the source of a whole document, or None if no whole document has this id."""
        statement = select(IngestedRow.source).where(
            IngestedRow.document_id == document_id, IngestedRow.content_hash != ""
        )
        with self._database.session() as session:
            return session.scalar(statement)

    def text_hashes(
        self, document_ids: Sequence[str] | None = None, *, source: str | None = None
    ) -> dict[str, str]:
        """Return the hash of the text by document, empty where it was never noted.

        Covers `document_ids`, half-written ones too; else whole documents of `source`, or all.
        """
        columns = select(IngestedRow.document_id, IngestedRow.text_hash)
        statement = columns.where(IngestedRow.content_hash != "").order_by(IngestedRow.document_id)
        if source is not None:
            statement = statement.where(IngestedRow.source == source)
        with self._database.session() as session:
            if document_ids is None:
                return dict(session.execute(statement).tuples().all())
            hashes: dict[str, str] = {}
            for some in batches(document_ids):
                mine = columns.where(IngestedRow.document_id.in_(some))
                hashes.update(session.execute(mine).tuples().all())
            return hashes

    def with_texts(self, text_hashes: Sequence[str]) -> dict[str, list[str]]:
        """Return the ids of the documents whose text has one of the hashes, by hash, sorted.

        Documents that a killed job left half-written are among them.
        """
        ids_by_hash: dict[str, list[str]] = {}
        columns = select(IngestedRow.text_hash, IngestedRow.document_id)
        with self._database.session() as session:
            for some in batches(text_hashes):
                mine = columns.where(IngestedRow.text_hash.in_(some))
                for text_hash, id_ in session.execute(mine.order_by(IngestedRow.document_id)):
                    ids_by_hash.setdefault(text_hash, []).append(id_)
        return ids_by_hash

    def complete_hash(self, beginning: str) -> str | None:
        """Return the only hash of a document's text that begins so; None if none does.

        Raises:
            AmbiguousIdError: Several begin so.
        """
        with self._database.session() as session:
            return complete_short_id(session, IngestedRow.text_hash, beginning)

    def note_texts(self, text_hashes: Mapping[str, str]) -> None:
        """Note the hashes of documents' texts, by document, where none is noted."""
        with self._database.session() as session:
            for id_, text_hash in text_hashes.items():
                mine = (IngestedRow.document_id == id_) & (IngestedRow.text_hash == "")
                session.execute(update(IngestedRow).where(mine).values(text_hash=text_hash))

    def reserve(
        self, versions: Sequence[Version], *, source: str, pipeline: str, job_id: str
    ) -> Reservation:
        """Note what is about to be written; skip documents of another source that still exists."""
        ids = [version.document_id for version in versions]
        with self._database.session() as session:
            for some in batches(ids):  # locked, so that nobody changes them before they are written
                mine = IngestedRow.document_id.in_(some)
                session.execute(update(IngestedRow).where(mine).values(job_id=IngestedRow.job_id))
            rows = self._rows(session, ids)
            taken = {id_: row.source for id_, row in rows.items() if not can_replace(row, source)}
            stored = {id_: _stored_ids(row) for id_, row in rows.items()}
            for version in versions:
                if version.document_id in taken:
                    continue
                before = stored.setdefault(version.document_id, _NOTHING)
                row = _row(version, source, pipeline, job_id)
                row.content_hash = ""
                row.outcome = before.outcome
                row.chunk_ids = sorted(before.chunk_ids.union(version.chunk_ids))
                row.node_ids = sorted(before.node_ids.union(version.node_ids))
                session.merge(row)
        return Reservation(stored, taken)

    def record(
        self,
        session: Session,
        versions: Sequence[Version],
        outcomes: dict[str, str],
        *,
        source: str,
        pipeline: str,
        job_id: str,
    ) -> None:
        """Note that the stores hold exactly these versions."""
        for version in versions:
            row = _row(version, source, pipeline, job_id)
            row.outcome = outcomes[version.document_id]
            session.merge(row)
            self._forget_built(session, version.document_id, other_than=version.text_hash)

    def update_location(
        self, session: Session, moved: Mapping[str, MovedFile], *, source: str
    ) -> None:
        """Note that documents of `source` have content that was ingested before.

        Those that yet another source has taken meanwhile stay unchanged.
        """
        for id_, each in moved.items():
            session.execute(
                update(IngestedRow)
                .where(IngestedRow.document_id == id_, IngestedRow.source == each.previous_source)
                .values(source=source, fingerprint=each.fingerprint)
            )

    def set_contents(
        self, ids: Mapping[str, tuple[Sequence[str], Sequence[str]]], *, beside_old: bool
    ) -> None:
        """Note that the stores hold these chunks and nodes of each document.

        With `beside_old` they are added to the noted ones, otherwise they replace them. The other
        columns of the documents stay unchanged.
        """
        with self._database.session() as session:
            for id_, row in self._rows(session, list(ids)).items():
                chunks, nodes = ids[id_]
                row.chunk_ids = sorted({*chunks, *(row.chunk_ids if beside_old else ())})
                row.node_ids = sorted({*nodes, *(row.node_ids if beside_old else ())})

    def stored_ids(self, document_ids: Sequence[str]) -> dict[str, StoredIds]:
        """Return the ids that the stores may hold of these documents."""
        with self._database.session() as session:
            return {id_: _stored_ids(row) for id_, row in self._rows(session, document_ids).items()}

    def mark_deleting(self, document_ids: Sequence[str]) -> None:
        """Note that the stores may hold only parts of these documents from now on.

        So an ingest after a removal that was killed makes them again where they are still there.
        """
        with self._database.session() as session:
            for row in self._rows(session, document_ids).values():
                row.outcome = _stored_ids(row).outcome
                row.content_hash = ""

    def forget(self, session: Session, document_ids: Iterable[str]) -> None:
        """Delete the rows of documents that the stores no longer hold."""
        for id_ in document_ids:
            session.execute(delete(IngestedRow).where(IngestedRow.document_id == id_))
            session.execute(delete(ReviewRow).where(ReviewRow.document_id == id_))
            self._forget_built(session, id_)

    def _forget_built(self, session: Session, document_id: str, *, other_than: str = "") -> None:
        """Delete what a model built of other texts of the document."""
        for kept in (BuiltRow, UnbuiltRow):
            session.execute(
                delete(kept).where(kept.document_id == document_id, kept.text_hash != other_than)
            )

    def _rows(self, session: Session, document_ids: Sequence[str]) -> dict[str, IngestedRow]:
        by_id: dict[str, IngestedRow] = {}
        for some in batches(document_ids):
            rows = session.scalars(select(IngestedRow).where(IngestedRow.document_id.in_(some)))
            by_id.update((row.document_id, row) for row in rows)
        return by_id


def can_replace(existing: LedgerEntry | IngestedRow, source: str) -> bool:
    """Return True if a document of `source` may replace the existing one of the same id."""
    if existing.source in {source, ACCEPTED_PAGES}:
        return existing.source == source
    try:
        return not Path(existing.source).exists()
    except PermissionError:  # it is there, and not for this process to look into
        return False


_NOTHING = StoredIds(frozenset(), frozenset(), "added")


def _stored_ids(row: IngestedRow) -> StoredIds:
    # A row of a killed job keeps what that job was about to call it.
    outcome = "changed" if row.content_hash else row.outcome
    return StoredIds(frozenset(row.chunk_ids), frozenset(row.node_ids), outcome)


def _row(version: Version, source: str, pipeline: str, job_id: str) -> IngestedRow:
    return IngestedRow(
        document_id=version.document_id,
        source=source,
        fingerprint=version.fingerprint,
        content_hash=version.content_hash,
        pipeline=pipeline,
        outcome="",
        job_id=job_id,
        title=version.title,
        media_type=version.media_type,
        text_hash=version.text_hash,
        chunk_ids=list(version.chunk_ids),
        node_ids=list(version.node_ids),
        updated_at=datetime.now(UTC),
        pictures_taken=True,
        harm="",
    )
