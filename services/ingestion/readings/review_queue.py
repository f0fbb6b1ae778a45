"""Review queue: pages by what a check of them brings."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy import false, func, select, update

from services.contracts.ingestion import Ownership
from services.contracts.readings import (
    PageReview,
    PageState,
    PageUse,
    WaitingPage,
    WaitingQuery,
    WaitingReading,
)
from services.ingestion.catalogue.owners import Owners, owner_among
from services.ingestion.readings.reviews import Reviews
from services.ingestion.readings.texts import TextIndex
from services.ingestion.tables import IngestedRow
from services.kit.sql.database import Database
from services.knowledge.page.block import BlockKind
from services.knowledge.page.parsing import parse_page
from services.runbook.checklist.build import checklist_of_page
from services.runbook.model import Reader
from services.runbook.ports import ReadingState
from services.runbook.tables import TextRow
from services.workflow.effects.effect import EffectLevel, effect_of
from services.workflow.model import ShownPage

_SEVERITY = {EffectLevel.LOOKS: 0, EffectLevel.CHANGES: 1, EffectLevel.DESTROYS: 2}
_ANSWERED = 10
"""Weight of a ticket that a page answered against one that it came near: of the pages shown with
`bench review-order` 76 of 100 are right, of those near 7.
"""
_HARMLESS = 4
"""Weight of a page that changes nothing; one whose commands change something weighs a quarter more,
one that destroys a half: the harm orders pages of about as many tickets, and no more.
"""
_RESOURCE = re.compile(
    r"^\s*apiVersion:(?s:.*)^\s*kind:|^\s*kind:(?s:.*)^\s*apiVersion:", re.MULTILINE
)
_APPLIES = re.compile(
    r"(?i)\b(?:(?:add|apply|edit|modify|patch)(?:ing)?|(?:chang|creat|replac|updat)(?:e|ing)|set)\b"
)
"""Verbs of a sentence above a resource that put it into the cluster."""
_NO_COMMAND = "none"
_JUDGED_AT_ONCE = 100
"""Most texts whose commands are judged for one look at the list, some 10 ms each."""


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
    harm: str = ""
    """Effect of its most severe command, or `none`; empty if nobody has judged it yet."""
    use: PageUse = field(default_factory=PageUse)
    review: PageReview | None = None

    @property
    def waits(self) -> int:
        """Number of doubts and unapproved procedures; at least 1 for a page unread or changed."""
        unapproved = max(self.procedures - self.approved, self.was_approved)
        return self.doubts + unapproved if self.reader else 1

    @property
    def effect(self) -> EffectLevel | None:
        """Effect of its most severe command; None if it has none, or was not judged yet."""
        return EffectLevel(self.harm) if self.harm not in {"", _NO_COMMAND} else None

    @property
    def urgency(self) -> int:
        """Benefit of a check; see `WaitingReading.urgency`."""
        if not self.waits:
            return 0
        harm = _SEVERITY[self.effect] if self.effect else 0
        return (_ANSWERED * self.use.answered + self.use.near) * (_HARMLESS + harm)

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
    """List of pages to check. It reads counts of all pages, and each text once, for its harm."""

    def __init__(
        self, database: Database, owners: Owners, reviews: Reviews, texts: TextIndex
    ) -> None:
        self._database = database
        self._owners = owners
        self._reviews = reviews
        self._texts = texts

    def page(self, query: WaitingQuery) -> WaitingPage:
        """See `Readings.waiting`."""
        pages = self._pages()
        owners = self._owners.all()
        reviews = {each.document_id: each for each in self._reviews.open()}
        for each in pages:
            uses = [query.uses[id_] for id_ in each.roots if id_ in query.uses]
            each.use = PageUse(
                answered=sum(use.answered for use in uses), near=sum(use.near for use in uses)
            )
            own = (reviews[id_] for id_ in each.roots if id_ in reviews)
            each.review = min(own, key=lambda review: review.due, default=None)
        self._judge(pages)
        matches = by_urgency(each for each in pages if _matches(each, query, owners))
        if query.owner:  # stable: within a day the most urgent first
            matches.sort(key=lambda each: each.review.due if each.review else date.max)
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
            IngestedRow.harm,
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

    def _judge(self, pages: Iterable[QueuedPage]) -> None:
        """Judge the commands of pages where nobody did yet, those of most tickets first."""
        waiting = by_urgency(each for each in pages if not each.harm)[:_JUDGED_AT_ONCE]
        for page in waiting:
            effect = worst_effect(self._texts.text(page.text_hash) or "")
            page.harm = effect.value if effect else _NO_COMMAND
        with self._database.session() as session:
            for page in waiting:
                mine = update(IngestedRow).where(IngestedRow.text_hash == page.text_hash)
                session.execute(mine.values(harm=page.harm))


def worst_effect(text: str) -> EffectLevel | None:
    """Return the effect of the most severe command of a page; None if it has no command.

    A resource in YAML that the words above it apply or edit is a change.
    """
    page = ShownPage(document_id="page", title="", text=text)
    checklist = checklist_of_page(page, corrections={})
    steps = checklist.steps if checklist else ()
    levels = [effect_of(command).level for step in steps for command in step.commands]
    before = ""
    for place in parse_page(text).places():
        block = place.block
        if block.kind is BlockKind.CODE and _RESOURCE.search(block.verbatim):
            levels += [EffectLevel.CHANGES] if _APPLIES.search(before) else []
        before = block.text or before
    return max(levels, key=_SEVERITY.__getitem__, default=None)


def by_urgency(pages: Iterable[QueuedPage]) -> list[QueuedPage]:
    """Sort the most urgent first, then those once approved, then by harm and by what waits."""
    return sorted(
        pages,
        key=lambda page: (
            -page.urgency,
            not page.was_approved,
            -(_SEVERITY[page.effect] if page.effect and page.waits else 0),
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
        and (not query.documents or not page.roots.keys().isdisjoint(query.documents))
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
        use=page.use,
        harm=page.effect,
        review=page.review,
        urgency=page.urgency,
        page_state=page.state,
    )
