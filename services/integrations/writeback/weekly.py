"""Weekly digest for those who look after pages: which to mend and why, and which to review."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import structlog
from sqlalchemy import select, update

from services.contracts.coverage import CoverageReports, PageToMend
from services.contracts.readings import PageReview
from services.integrations.writeback.note import Digest
from services.integrations.writeback.service import WriteBack
from services.integrations.writeback.settings import WriteBackSettings
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.tickets.tables import DigestRow

DIGEST_TASK = "gateway_notes.digest"
LOOK_EVERY_S = 600.0
WEEKS = 12
"""Number of weeks for which runs and tickets are looked at."""
_MOST_PAGES, _MOST_FINDINGS = 10, 3
"""Most pages of a team, and most findings of a page, that are listed one by one."""
_NOBODY = "no team is named"

_log = structlog.get_logger()


class WeeklyDigest:
    """Schedule of digests: one task a week and target, even from two processes."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        *,
        write_back: WriteBack,
        covering: CoverageReports,
        reviews: Callable[[], Sequence[PageReview]],
        settings: WriteBackSettings,
    ) -> None:
        """Queue nothing, ever, without a day in the settings, or a chat or callback."""
        self._database = database
        self._outbox = outbox
        self._write_back = write_back
        self._covering = covering
        self._reviews = reviews
        self._settings = settings

    def put_due(self, now: float | None = None) -> None:
        """Queue the digests that are due."""
        at = datetime.fromtimestamp(time.time() if now is None else now, UTC)
        is_due = at.strftime("%A").lower() == self._settings.digest_day
        if not is_due or at.hour < self._settings.digest_hour:
            return
        year, number, _ = at.isocalendar()
        week = f"{year}-W{number:02}"
        for target in self._write_back.digest_targets:
            with self._database.session() as session:
                row = self._database.insert(DigestRow)
                values = row.values(week=week, target=target, at=at.timestamp())
                put = session.execute(values.on_conflict_do_nothing().returning(DigestRow.week))
                if put.scalar_one_or_none() is not None:
                    arguments = {"week": week, "target": target}
                    self._outbox.put(
                        session, DIGEST_TASK, arguments, f"{DIGEST_TASK}:{target}:{week}"
                    )

    def run(self, week: str, target: str) -> None:
        """Send one target its digest; do nothing if nothing is new since the last one.

        Raises:
            NotDeliveredError: It did not take it.
            UnavailableError: Nobody could say which pages are to be mended or reviewed.
        """
        report = self._covering.pages_to_mend(weeks=WEEKS)
        reviews = self._reviews()
        keys = {each.key for page in report.pages for each in page.findings}
        keys |= {f"review {each.document_id} {each.due}" for each in reviews}
        sent = select(DigestRow.told).where(DigestRow.target == target, DigestRow.told != "")
        with self._database.session() as session:
            last = session.scalar(sent.order_by(DigestRow.week.desc()).limit(1))
        before = set(last.split("\n")) if last else set[str]()
        if keys <= before:
            return
        base = str(self._settings.public_url or "").rstrip("/")
        self._write_back.send_digest(target, build_digest(week, report.pages, reviews, base))
        sent_keys = keys | before if report.without else keys
        row = update(DigestRow).where(DigestRow.week == week, DigestRow.target == target)
        with self._database.session() as session:
            session.execute(row.values(told="\n".join(sorted(sent_keys))))
            self._outbox.finish(session)
        _log.info("gateway.digest_sent", target=target, week=week, pages=len(report.pages))


def build_digest(
    week: str, pages: Sequence[PageToMend], reviews: Sequence[PageReview], base: str
) -> Digest:
    """Build the digest of these pages and reviews, team by team; links start with `base`."""
    url = f"{base}/knowledge/coverage/pages" if base else ""
    by_team: dict[str, list[PageToMend]] = defaultdict(list)
    for page in pages:
        by_team[page.owner or _NOBODY].append(page)
    reviews_by_team: dict[str, list[PageReview]] = defaultdict(list)
    for review in reviews:
        reviews_by_team[review.team or _NOBODY].append(review)
    lines = [
        line
        for team in sorted({*by_team, *reviews_by_team})
        for line in _lines(team, by_team[team], reviews_by_team[team], base)
    ]
    mended = "pages are" if len(pages) > 1 else "page is"
    due = "reviews are" if len(reviews) > 1 else "review is"
    parts = {
        f"{len(pages)} {mended} to be mended, by what was seen of their lines": len(pages),
        f"{len(reviews)} {due} due": len(reviews),
    }
    return Digest(
        week=week,
        headline="; ".join(part for part, count in parts.items() if count),
        lines=(*lines, *((url,) if url else ())),
        pages=tuple(page.model_dump(mode="json") for page in pages),
        reviews=tuple(review.model_dump(mode="json") for review in reviews),
        url=url,
    )


def _lines(
    team: str, pages: Sequence[PageToMend], reviews: Sequence[PageReview], base: str
) -> list[str]:
    lines = [f"{team}:"]
    lines += [
        f"{each.document_id} to be reviewed by {each.due}, {each.by} asks: {base}{each.path}"
        for each in reviews[:_MOST_PAGES]
    ]
    more = len(reviews) - _MOST_PAGES
    lines += [f"{more} more reviews"] if more > 0 else []
    for page in pages[:_MOST_PAGES]:
        lines += [
            f"{page.document_id} line {each.start_line}: {each.said}: {each.seen}"
            for each in page.findings[:_MOST_FINDINGS]
        ]
        more = len(page.findings) - _MOST_FINDINGS
        lines += [f"{page.document_id}: {more} more"] if more > 0 else []
    more = len(pages) - _MOST_PAGES
    return [*lines, *([f"{more} more pages"] if more > 0 else [])]
