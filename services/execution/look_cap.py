"""Cap on looks that nobody asked for: by ticket, by target, and of all together."""

from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from services.execution.tables import (
    LookCountRow,
    RunEventRow,
    RunRow,
    SearchEventRow,
    SearchRow,
)
from services.execution.tools.policy import ReadPolicy
from services.kit.sql.database import Database

MINUTE_S = 60.0
HOUR_S = 3600.0
_LOOKED = ("observed", "not_observed")
"""Kinds of events that end a look."""
_ALL = ""
"""Name under which the looks at all targets are counted."""


@dataclass(frozen=True)
class CapReached:
    """Reason why a look is not done now."""

    why: str
    until: float | None = None
    """Time from which it may be tried again; None if it is a person's to look."""


class LookCap:
    """Counter of looks at once; safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(
        self, ticket_id: str, target: str, policy: ReadPolicy, now: float
    ) -> CapReached | None:
        """Count a look that is about to be done; return why it may not be."""
        minute = int(now // MINUTE_S)
        until = (minute + 1) * MINUTE_S
        with self._database.session() as session:
            if self._looks_of_ticket(session, ticket_id, now) >= policy.per_ticket_and_hour:
                why = f"it was looked {policy.per_ticket_and_hour} times within the hour"
                return CapReached(f"{why} for this ticket by itself: a person looks")
            session.execute(delete(LookCountRow).where(LookCountRow.minute < minute - 1))
            for name, most in (
                (target, policy.per_target_and_minute),
                (_ALL, policy.per_minute),
            ):
                if not self._count(session, name, minute, most):
                    session.rollback()
                    what = f"{name} was looked at" if name else "it was looked"
                    return CapReached(f"{what} {most} times within the minute by itself", until)
        return None

    def _count(self, session: Session, name: str, minute: int, most: int) -> bool:
        first = self._database.insert(LookCountRow).values(target=name, minute=minute, looks=1)
        counted = first.on_conflict_do_update(
            index_elements=["target", "minute"],
            set_={"looks": LookCountRow.looks + 1},
            where=LookCountRow.looks < most,
        )
        return most > 0 and session.scalar(counted.returning(LookCountRow.looks)) is not None

    def _looks_of_ticket(self, session: Session, ticket_id: str, now: float) -> int:
        looks = 0
        for row, event, is_by_itself in (
            (RunRow, RunEventRow, RunRow.run["asks_nobody"].as_boolean()),
            (SearchRow, SearchEventRow, SearchRow.search["at_once"].as_boolean()),
        ):
            mine = select(func.count()).select_from(event).join(row, event.owner_id == row.id)
            looks += (
                session.scalar(
                    mine.where(
                        row.ticket_id == ticket_id,
                        is_by_itself,
                        event.kind.in_(_LOOKED),
                        event.at >= now - HOUR_S,
                    )
                )
                or 0
            )
        return looks
