"""Review queue: pages by how urgently they wait for a person."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import false, func, select

from services.contracts.ingestion import Ownership
from services.contracts.readings import PageState, WaitingPage, WaitingQuery, WaitingReading
from services.ingestion.catalogue.owners import Owners, owner_among
from services.ingestion.tables import IngestedRow
from services.kit.sql.database import Database
from services.runbook.model import Reader
from services.runbook.ports import ReadingState
from services.runbook.tables import TextRow


@dataclass
class QueuedPage:
    """Counts of one text, with the documents that have it now."""

    text_hash: str
    title: str
    roots: dict[str, str]
    """Root of each document, by the document's id."""
    reader: str
    """Reader of the text; empty if nobody has read it."""
    procedures: int
    approved: int
    checklists: int
    doubts: int
    was_approved: bool
    updated_at: datetime
    alerts: int = 0

    @property
    def waits(self) -> int:
        """Number of doubts and unapproved procedures; 1 for a page that nobody has read."""
        return self.doubts + self.procedures - self.approved if self.reader else 1

    @property
    def urgency(self) -> int:
        """Number of alerts times the number that waits."""
        return self.alerts * self.waits

    @property
    def state(self) -> PageState:
        """State of the page."""
        if self.was_approved:
            return PageState.CHANGED
        if not self.reader:
            return PageState.UNREAD
        if not 0 < self.procedures == self.approved:
            return PageState.READ
        return PageState.CHECKLIST if self.checklists else PageState.APPROVED


class ReviewQueue:
    """List of pages to check. It reads counts of all pages and texts of none."""

    def __init__(self, database: Database, owners: Owners) -> None:
        self._database = database
        self._owners = owners

    def page(self, query: WaitingQuery) -> WaitingPage:
        """See `Readings.waiting`."""
        pages = self._pages()
        owners = self._owners.all()
        for each in pages:
            each.alerts = sum(query.alerts.get(id_, 0) for id_ in each.roots)
        matches = by_urgency(each for each in pages if _matches(each, query, owners))
        counts = Counter(each.state for each in pages)
        some = matches[query.start : query.start + query.limit]
        return WaitingPage(
            readings=tuple(_shown(each, owners) for each in some),
            total=len(matches),
            counts={state: counts[state] for state in PageState},
        )

    def _pages(self) -> list[QueuedPage]:
        columns = (
            IngestedRow.text_hash,
            IngestedRow.document_id,
            IngestedRow.source,
            IngestedRow.title,
            func.coalesce(TextRow.reader, ""),
            func.coalesce(TextRow.procedures, 0),
            func.coalesce(TextRow.approved, 0),
            func.coalesce(TextRow.checklists, 0),
            func.coalesce(TextRow.doubts, 0),
            func.coalesce(TextRow.was_approved, false()),
            func.coalesce(TextRow.updated_at, IngestedRow.updated_at),
        )
        statement = (
            select(*columns)
            .outerjoin(TextRow, IngestedRow.text_hash == TextRow.text_hash)
            .where(IngestedRow.text_hash != "", IngestedRow.content_hash != "")
        )
        pages: dict[str, QueuedPage] = {}
        with self._database.session() as session:
            for text_hash, id_, root, title, *numbers in session.execute(statement):
                page = pages.setdefault(text_hash, QueuedPage(text_hash, title, {}, *numbers))
                page.roots[id_] = root
        return list(pages.values())


def by_urgency(pages: Iterable[QueuedPage]) -> list[QueuedPage]:
    """Sort the most urgent first, then those once approved, then by what waits."""
    return sorted(
        pages,
        key=lambda page: (
            -page.urgency,
            not page.was_approved,
            -page.doubts,
            -page.waits,
            min(page.roots),
        ),
    )


def _matches(page: QueuedPage, query: WaitingQuery, owners: Sequence[Ownership]) -> bool:
    searched = " ".join((page.title, *page.roots)).lower()
    return (
        query.state in {None, page.state}
        and query.reader in {None, page.reader}
        and query.doubts in {None, page.doubts > 0}
        and all(word in searched for word in query.text.lower().split())
        and (not query.owner or _owner(page, owners) == query.owner)
    )


def _owner(page: QueuedPage, owners: Sequence[Ownership]) -> str:
    """Return the team of its first document that has one."""
    teams = (owner_among(owners, root, id_) for id_, root in sorted(page.roots.items()))
    return next(filter(None, teams), "")


def _shown(page: QueuedPage, owners: Sequence[Ownership]) -> WaitingReading:
    is_approved = page.state in {PageState.APPROVED, PageState.CHECKLIST}
    state = ReadingState.APPROVED if is_approved else ReadingState.READ
    return WaitingReading(
        text_hash=page.text_hash,
        documents=tuple(sorted(page.roots)),
        reader=Reader(page.reader) if page.reader else None,
        state=state,
        procedures=page.procedures,
        approved=page.approved,
        checklists=page.checklists,
        doubts=page.doubts,
        was_approved=page.was_approved,
        updated_at=page.updated_at,
        title=page.title,
        owner=_owner(page, owners),
        alerts=page.alerts,
        urgency=page.urgency,
        page_state=page.state,
    )
