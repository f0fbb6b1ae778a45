"""The acceptance rate: how the workflows that tickets show were taken, by week and by origin.

A ticket counts once, by the workflow that it shows, in the week in which that was last worked with.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import aliased

from services.contracts.adoption import (
    AcceptanceReport,
    AdoptionCount,
    Judgement,
    NamedCount,
    Taken,
    TakenQuery,
    TakenTicket,
    WeekCount,
)
from services.kit.sql.database import Database
from services.tickets.tables import AdoptionRow, TicketRow, WorkflowRow
from services.workflow.compare import ACCEPTED_SHARE

MOST_DOCUMENTS = 100

MOST_TICKETS = 200

_Tally = Counter[str]
"""Counts by field of an `AdoptionCount`."""
_IS_OVER = TicketRow.resolved_at.is_not(None)


@dataclass(frozen=True)
class _WorkedTicket:
    ticket: TakenTicket
    writer: str
    documents: tuple[str, ...]

    @property
    def day(self) -> date:
        return self.ticket.worked_at.date()

    def tally(self) -> _Tally:
        counted = {name: getattr(self.ticket, name) for name in ("did", "had", "core", "used")}
        return Counter({self.ticket.taken.value: 1, **counted})


class AcceptanceCount:
    """Acceptance rate of workflows, counted from the judgements and marks of engineers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def report(self, weeks: int, *, now: float | None = None) -> AcceptanceReport:
        """Return the acceptance rate of the last `weeks` weeks, the present one included."""
        first = _first_monday(weeks, now)
        by_week: dict[date, _Tally] = {first + timedelta(weeks=n): Counter() for n in range(weeks)}
        by_writer: dict[str, _Tally] = {}
        by_document: dict[str, _Tally] = {}
        for each in self._worked(first):
            tally = each.tally()
            by_week.setdefault(_monday(each.day), Counter()).update(tally)
            by_writer.setdefault(each.writer, Counter()).update(tally)
            for document in each.documents:
                by_document.setdefault(document, Counter()).update(tally)
        return AcceptanceReport(
            weeks=tuple(
                WeekCount(week=_week_name(monday), monday=monday, **tally)
                for monday, tally in sorted(by_week.items())
            ),
            writers=tuple(_named(by_writer)),
            documents=tuple(_named(by_document))[:MOST_DOCUMENTS],
            total=AdoptionCount(**sum(by_week.values(), Counter())),
        )

    def tickets(self, query: TakenQuery, *, now: float | None = None) -> tuple[TakenTicket, ...]:
        """Return the tickets behind a number of the report, at most `MOST_TICKETS`.

        The ticket worked with last comes first.
        """
        tickets = [
            each.ticket
            for each in self._worked(_first_monday(query.weeks, now))
            if query.taken in {None, each.ticket.taken}
            and query.week in {"", _week_name(each.day)}
            and query.writer in {"", each.writer}
            and (not query.document or query.document in each.documents)
        ]
        tickets.sort(key=lambda ticket: ticket.worked_at, reverse=True)
        return tuple(tickets[:MOST_TICKETS])

    def _worked(self, first: date) -> Iterator[_WorkedTicket]:
        """Yield the workflow of each ticket that was worked with since the day."""
        since = datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()
        candidate, shown = aliased(WorkflowRow), aliased(WorkflowRow)
        statement = (
            select(AdoptionRow, candidate.planner, TicketRow.id, TicketRow.title, _IS_OVER)
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
            for row, planner, ticket_id, title, is_over in session.execute(statement):
                ticket = TakenTicket(
                    id=ticket_id,
                    title=title,
                    taken=classify_outcome(row, is_over=is_over),
                    worked_at=datetime.fromtimestamp(row.worked_at, UTC),
                    did=row.did or 0,
                    had=row.had or 0,
                    core=0 if row.did is None else row.core,
                    used=0 if row.did is None else row.used,
                )
                yield _WorkedTicket(ticket, planner or "unknown", tuple(row.documents))


def classify_outcome(row: AdoptionRow, *, is_over: bool) -> Taken:
    """Classify how a workflow was taken; `is_over` says that its fault is resolved.

    Rows from before actions were counted keep the rule of that time: three quarters of the core
    steps, all of which count as used when the workflow as a whole was accepted.
    """
    if row.verdict == Judgement.REJECTED:
        return Taken.REJECTED
    is_accepted = row.verdict == Judgement.ACCEPTED
    is_decided = is_accepted or is_over
    if row.did is None:
        is_used = row.used >= ACCEPTED_SHARE * row.core if row.core else is_accepted
        if is_used:
            return Taken.ACCEPTED
        return Taken.PARTLY if is_decided else Taken.OPEN
    if not row.did or row.had is None:
        return Taken.WORD_ONLY if is_accepted else Taken.OPEN
    if not is_decided:
        return Taken.OPEN
    return Taken.ACCEPTED if row.had >= ACCEPTED_SHARE * row.did else Taken.PARTLY


def _first_monday(weeks: int, now: float | None) -> date:
    today = datetime.fromtimestamp(now or time.time(), UTC).date()
    return _monday(today) - timedelta(weeks=weeks - 1)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _week_name(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


def _named(tallies: Mapping[str, _Tally]) -> Iterator[NamedCount]:
    for name, tally in sorted(tallies.items(), key=lambda item: (-item[1].total(), item[0])):
        yield NamedCount(name=name, **tally)
