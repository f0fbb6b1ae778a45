"""The acceptance rate: how the workflows that tickets show were taken, by week and by origin.

A ticket counts once, by the workflow that it shows, in the week in which that was last worked with.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import aliased

from services.contracts.adoption import (
    AcceptanceReport,
    AdoptionCount,
    Judgement,
    NamedCount,
    WeekCount,
)
from services.gateway.tables import AdoptionRow, TicketRow, WorkflowRow
from services.kit.sql.database import Database
from services.workflow.compare import ACCEPTED_SHARE

MOST_DOCUMENTS = 100

_Tally = Counter[str]
"""How often each field of an `AdoptionCount` was the case."""


class AcceptanceCount:
    """Counts what engineers said and did."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def report(self, weeks: int, *, now: float | None = None) -> AcceptanceReport:
        """The rate of so many weeks, the present one included."""
        today = datetime.fromtimestamp(now or time.time(), UTC).date()
        first = _monday(today) - timedelta(weeks=weeks - 1)
        by_week: dict[date, _Tally] = {first + timedelta(weeks=n): Counter() for n in range(weeks)}
        by_writer: dict[str, _Tally] = {}
        by_document: dict[str, _Tally] = {}
        for at, writer, documents, taken in self._taken(first):
            by_week.setdefault(_monday(at), Counter())[taken] += 1
            by_writer.setdefault(writer, Counter())[taken] += 1
            for document in documents:
                by_document.setdefault(document, Counter())[taken] += 1
        return AcceptanceReport(
            weeks=tuple(_week(monday, tally) for monday, tally in sorted(by_week.items())),
            writers=tuple(_named(by_writer)),
            documents=tuple(_named(by_document))[:MOST_DOCUMENTS],
            total=AdoptionCount(**_sum(by_week.values())),
        )

    def _taken(self, first: date) -> Iterator[tuple[date, str, list[str], str]]:
        """Day, writer, documents and outcome of each ticket's workflow since the day."""
        since = datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()
        candidate, shown = aliased(WorkflowRow), aliased(WorkflowRow)
        statement = (
            select(AdoptionRow, candidate.planner, TicketRow.resolved_at)
            .join(candidate, candidate.id == AdoptionRow.candidate_id)
            .join(TicketRow, TicketRow.id == candidate.ticket_id)
            .join(shown, shown.id == TicketRow.workflow_id)
            .where(AdoptionRow.worked_at >= since)
            .where(
                (shown.id == AdoptionRow.candidate_id)
                | (shown.candidate_id == AdoptionRow.candidate_id)
            )
        )
        with self._database.session() as session:
            for row, planner, resolved_at in session.execute(statement):
                at = datetime.fromtimestamp(row.worked_at, UTC).date()
                is_over = resolved_at is not None
                taken = outcome(row.verdict, row.core, row.used, is_over=is_over)
                yield at, planner, row.documents, taken


def outcome(verdict: str, core: int, used: int, *, is_over: bool) -> str:
    """Which field of an `AdoptionCount` a workflow counts in."""
    if verdict == Judgement.REJECTED:
        return "rejected"
    is_accepted = verdict == Judgement.ACCEPTED
    if core and used >= ACCEPTED_SHARE * core:
        return "accepted"
    if not core and is_accepted:
        return "accepted"
    return "partly" if is_accepted or is_over else "open"


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _week(monday: date, tally: Mapping[str, int]) -> WeekCount:
    year, week, _ = monday.isocalendar()
    return WeekCount(week=f"{year}-W{week:02}", monday=monday, **tally)


def _named(tallies: Mapping[str, _Tally]) -> Iterator[NamedCount]:
    for name, tally in sorted(tallies.items(), key=lambda item: (-item[1].total(), item[0])):
        yield NamedCount(name=name or "unknown", **tally)


def _sum(tallies: Iterable[_Tally]) -> _Tally:
    total: _Tally = Counter()
    for tally in tallies:
        total += tally
    return total
