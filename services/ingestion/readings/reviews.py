"""Reviews that the owners of pages are asked for."""

from collections.abc import Collection
from datetime import UTC, datetime

from sqlalchemy import Row, delete, func, select

from services.contracts.readings import PageReview, ReviewRequest
from services.ingestion.catalogue.owners import Owners, owner_among
from services.ingestion.tables import IngestedRow, ReviewRow
from services.kit.access.audit import add_audit
from services.kit.errors import ConflictError, InvalidInputError
from services.kit.sql.database import Database
from services.knowledge.ports import DocumentNotFoundError
from services.runbook.tables import TextRow


class NothingToReviewError(ConflictError):
    """All procedures of the page are approved, with their decisions."""


class Reviews:
    """Requested reviews in SQL; a page has at most one, and it ends when the page is approved."""

    def __init__(self, database: Database, owners: Owners) -> None:
        self._database = database
        self._owners = owners

    def put(self, request: ReviewRequest, *, who: str) -> list[PageReview]:
        """See `Readings.request_review`; returns the open review of the document, if any."""
        id_, due = request.document_id, request.due
        self._check(request)
        with self._database.session() as session:
            existing = session.get(ReviewRow, id_)
            before = {"due": existing.due.isoformat()} if existing else None
            if due is not None:
                values = {"due": due, "who": who[:200], "at": datetime.now(UTC)}
                row = self._database.insert(ReviewRow).values(document_id=id_, **values)
                # Of two at one moment the later one counts.
                session.execute(
                    row.on_conflict_do_update(index_elements=["document_id"], set_=values)
                )
                add_audit(session, "review.requested", id_, before, {"due": due.isoformat()})
            elif existing is not None:
                session.delete(existing)
                add_audit(session, "review.withdrawn", id_, before)
        return [each for each in self.open() if each.document_id == id_]

    def _check(self, request: ReviewRequest) -> None:
        """Refuse a request that nobody could meet; a withdrawal is always possible."""
        id_, due = request.document_id, request.due
        if due is None:
            return
        with self._database.session() as session:
            page = session.execute(_PAGES.where(IngestedRow.document_id == id_)).one_or_none()
        if page is None:
            raise DocumentNotFoundError(f"expected the id of an ingested document, got {id_!r}")
        today = datetime.now(UTC).date()
        if due < today:
            raise InvalidInputError(f"expected a day from {today} on, got {due}")
        if not owner_among(self._owners.all(), page.source, id_):
            raise InvalidInputError(f"no team looks after {id_!r}: name its owner first")
        if _is_approved(page):
            raise NothingToReviewError(f"all procedures of {id_!r} are approved already")

    def close(self, document_ids: Collection[str]) -> None:
        """End the reviews of these documents: somebody has approved their page."""
        with self._database.session() as session:
            mine = delete(ReviewRow).where(ReviewRow.document_id.in_(document_ids))
            for id_ in session.scalars(mine.returning(ReviewRow.document_id)).all():
                add_audit(session, "review.done", id_)

    def open(self, owner: str = "") -> list[PageReview]:
        """Return the reviews of pages that are there and not approved, the first due first."""
        columns = (ReviewRow.due, ReviewRow.who, ReviewRow.at)
        with self._database.session() as session:
            rows = session.execute(
                _PAGES.add_columns(*columns)
                .join(ReviewRow, ReviewRow.document_id == IngestedRow.document_id)
                .order_by(ReviewRow.due, ReviewRow.document_id)
            ).all()
        owners = self._owners.all() if rows else []
        reviews = (
            PageReview(
                document_id=row.document_id,
                title=row.title,
                text_hash=row.text_hash,
                team=owner_among(owners, row.source, row.document_id),
                due=row.due,
                by=row.who,
                at=row.at,
            )
            for row in rows
            if not _is_approved(row)
        )
        return [each for each in reviews if not owner or each.team == owner]


_PAGES = (
    select(
        IngestedRow.document_id,
        IngestedRow.source,
        IngestedRow.title,
        IngestedRow.text_hash,
        func.coalesce(TextRow.procedures, 0).label("procedures"),
        func.coalesce(TextRow.approved, 0).label("approved"),
        func.coalesce(TextRow.checklists, 0).label("checklists"),
    )
    .outerjoin(TextRow, IngestedRow.text_hash == TextRow.text_hash)
    .where(IngestedRow.content_hash != "")
)


def _is_approved(page: Row[*tuple[object, ...]]) -> bool:
    return bool(0 < page.procedures == page.approved and not page.checklists)
