"""What tickets teach once they have ended: which page was theirs, and how its workflow was taken.

Numbers and ids, no text. The page is known from what people did: that of the workflow which they
worked with until the fault was over, or accepted. A page is wrong for a ticket where its workflow
was rejected and nothing of it was done.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sqlalchemy import Row, select

from services.contracts.adoption import Judgement, Taken
from services.contracts.retrieval import PageSigns
from services.contracts.scorer import DIMENSIONS
from services.gateway.adoption.acceptance import taken
from services.gateway.tables import AdoptionRow, ScoreRow, ServedRow, TicketRow, WorkflowRow
from services.kit.sql.database import Database
from services.workflow.model import Provenance, Workflow


@dataclass(frozen=True)
class ScoredWorkflow:
    """The workflow that a ticket ended with, as it was served."""

    values: Mapping[str, float]
    """Of the five dimensions, 1–5."""
    origin: Provenance | None
    is_accepted: bool
    """Whether three quarters of what was done it had, or somebody said that it was the answer."""


@dataclass(frozen=True)
class Lesson:
    """How one ticket ended, and what had spoken for which page when it came."""

    source_id: str
    """Of the ticket."""
    kind: str
    """Equal for tickets of the same alert but for numbers."""
    at: float
    """When it was last worked with."""
    is_alert: bool
    pages: tuple[PageSigns, ...]
    """What came nearest, best first."""
    right: str = ""
    """The document that treats it; empty: not known."""
    wrong: frozenset[str] = frozenset()
    """Documents that do not."""
    workflow: ScoredWorkflow | None = None
    """Where the page was right."""
    said_by: str = ""
    """Who said so, where nobody ticked anything."""
    said: Judgement = field(default=Judgement.NONE)


_AT_ONCE = 200
"""Rows in memory: each has a workflow."""


class Lessons:
    """Reads what the tickets teach."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Lesson]:
        """Of the tickets that are kept, in the order of their ends."""
        statement = (
            select(
                TicketRow.id,
                TicketRow.family,
                TicketRow.workflow_id,
                TicketRow.resolved_at.is_not(None).label("is_over"),
                ServedRow,
                AdoptionRow,
                ScoreRow,
                WorkflowRow.body,
            )
            .join(ServedRow, ServedRow.ticket_id == TicketRow.id)
            .join(WorkflowRow, WorkflowRow.ticket_id == TicketRow.id)
            .join(AdoptionRow, AdoptionRow.candidate_id == WorkflowRow.id)
            .join(ScoreRow, ScoreRow.workflow_id == WorkflowRow.id)
            .order_by(TicketRow.id, AdoptionRow.worked_at)
        )
        shown = select(TicketRow.id, WorkflowRow.candidate_id).join(
            WorkflowRow, WorkflowRow.id == TicketRow.workflow_id
        )
        with self._database.session() as session:
            candidates = dict(session.execute(shown).tuples().all())
            rows = session.execute(statement.execution_options(yield_per=_AT_ONCE))
            found = [
                lesson
                for id_, own in groupby(rows, key=lambda row: str(row.id))
                if (lesson := _lesson(list(own), candidates.get(id_)))
            ]
        return sorted(found, key=lambda lesson: (lesson.at, lesson.source_id))


def _lesson(rows: list[Row[*tuple[Any, ...]]], edited: str | None) -> Lesson | None:
    """None where it is not known yet how it ended; `edited` is the candidate of a version shown."""
    right, wrong = "", set[str]()
    workflow, told = None, rows[-1].AdoptionRow
    for row in rows:
        used: AdoptionRow = row.AdoptionRow
        how, page = taken(used, is_over=row.is_over), next(iter(used.documents), "")
        is_shown = used.candidate_id in {row.workflow_id, edited}
        if how is Taken.REJECTED and not used.had:
            wrong.add(page)
        elif is_shown and how in {Taken.ACCEPTED, Taken.PARTLY, Taken.SAID}:
            right, told = page, used
            is_accepted = how is not Taken.PARTLY
            workflow = ScoredWorkflow(_values(row.ScoreRow), _origin(row.body), is_accepted)
    wrong -= {right, ""}
    if not right and not wrong:
        return None
    by_word = not told.did
    return Lesson(
        source_id=str(rows[0].id),
        kind=str(rows[0].family) or str(rows[0].id),
        at=max(row.AdoptionRow.worked_at for row in rows),
        is_alert=rows[0].ServedRow.is_alert,
        pages=tuple(PageSigns.model_validate(page) for page in rows[0].ServedRow.pages),
        right=right,
        wrong=frozenset(wrong),
        workflow=workflow,
        said_by=told.judged_by if by_word else "",
        said=Judgement(told.verdict) if by_word else Judgement.NONE,
    )


def _values(row: ScoreRow) -> dict[str, float]:
    return {name: getattr(row, name) for name in DIMENSIONS}


def _origin(body: str) -> Provenance | None:
    return Workflow.model_validate_json(body).provenance
