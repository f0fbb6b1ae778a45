"""The triage graph on SQL tables: past tickets, the entities they mention, the teams."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from services.kit.ids import time_ordered_id
from services.kit.sql.database import Database
from services.knowledge.model import Case
from services.knowledge.tables import NAME_LENGTH, CaseEntityRow, CaseRow

_BATCH = 500
"""Well under the oldest limit of bound parameters in one SQLite statement."""


def put_cases(database: Database, cases: Sequence[Case]) -> None:
    """See `GraphStore.put_cases`."""
    latest = {case.id[:NAME_LENGTH]: case for case in cases}
    with database.session() as session:
        ids = list(latest)
        for start in range(0, len(ids), _BATCH):
            session.execute(delete(CaseRow).where(CaseRow.id.in_(ids[start : start + _BATCH])))
        session.add_all(_row(id_, case) for id_, case in latest.items())
        session.flush()
        session.add_all(
            CaseEntityRow(case_id=id_, entity=entity, times=times)
            for id_, case in latest.items()
            for entity, times in _truncate_names(case.entities).items()
        )


def cases(database: Database, limit: int) -> list[Case]:
    """See `GraphStore.cases`."""
    statement = select(CaseRow).order_by(CaseRow.at.desc(), CaseRow.id.desc()).limit(limit)
    with database.session() as session:
        rows = list(session.scalars(statement))
        mentioned = _load_mentions(session, [row.id for row in rows])
    return [
        Case(id=row.id, text=row.text, team=row.team, at=row.at, entities=mentioned[row.id])
        for row in reversed(rows)
    ]


def cases_state(database: Database) -> str:
    """See `GraphStore.cases_state`."""
    with database.session() as session:
        return session.scalar(select(func.max(CaseRow.version))) or ""


def _load_mentions(session: Session, ids: Sequence[str]) -> dict[str, dict[str, int]]:
    mentions: dict[str, dict[str, int]] = {id_: {} for id_ in ids}
    for start in range(0, len(ids), _BATCH):
        mine = CaseEntityRow.case_id.in_(ids[start : start + _BATCH])
        columns = (CaseEntityRow.case_id, CaseEntityRow.entity, CaseEntityRow.times)
        ordered = select(*columns).where(mine).order_by(CaseEntityRow.entity)
        for id_, entity, times in session.execute(ordered):
            mentions[id_][entity] = times
    return mentions


def _row(id_: str, case: Case) -> CaseRow:
    return CaseRow(id=id_, text=case.text, team=case.team, at=case.at, version=time_ordered_id())


def _truncate_names(entities: dict[str, int]) -> dict[str, int]:
    return {entity[:NAME_LENGTH]: times for entity, times in entities.items()}
