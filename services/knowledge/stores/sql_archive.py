"""Adapter of `CaseArchive` on an SQL table."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import delete, func, select

from services.kit.ids import time_ordered_id
from services.kit.sql.database import Database
from services.knowledge.model import ResolvedCase
from services.knowledge.ports import Vectors
from services.knowledge.tables import DocumentRow, ResolvedCaseRow

_FIELDS = tuple(getattr(ResolvedCaseRow, name) for name in ResolvedCase.model_fields)


class SqlCaseArchive:
    """Resolved tickets beside the documents, in one database."""

    def __init__(self, database: Database, *, most: int = 20) -> None:
        """Set the limit: `most` cases per page are kept, the newest."""
        self._database = database
        self._most = most

    def put(self, case: ResolvedCase, vector: Sequence[float], model: str) -> bool:
        """See `CaseArchive.put`."""
        stored = np.asarray(vector, dtype="<f4").tobytes()
        with self._database.session() as session:
            if session.get(DocumentRow, case.document_id) is None:
                return False
            same = (
                ResolvedCaseRow.document_id == case.document_id,
                ResolvedCaseRow.title == case.title,
                ResolvedCaseRow.text == case.text,
                ResolvedCaseRow.id != case.id,
            )
            session.execute(delete(ResolvedCaseRow).where(*same))
            written = {"vector": stored, "model": model, "version": time_ordered_id()}
            session.merge(ResolvedCaseRow(**case.model_dump(), **written))
            session.flush()
            mine = ResolvedCaseRow.document_id == case.document_id
            newest = select(ResolvedCaseRow.id).where(mine).order_by(ResolvedCaseRow.at.desc())
            kept = list(session.scalars(newest.limit(self._most)))
            session.execute(delete(ResolvedCaseRow).where(mine, ResolvedCaseRow.id.not_in(kept)))
        return True

    def remove(self, ids: Sequence[str]) -> None:
        """See `CaseArchive.remove`."""
        with self._database.session() as session:
            session.execute(delete(ResolvedCaseRow).where(ResolvedCaseRow.id.in_(ids)))

    def newest(self, limit: int, model: str) -> tuple[list[ResolvedCase], Vectors]:
        """See `CaseArchive.newest`."""
        statement = (
            select(*_FIELDS, ResolvedCaseRow.vector)
            .where(ResolvedCaseRow.model == model)
            .order_by(ResolvedCaseRow.at.desc(), ResolvedCaseRow.id)
        )
        with self._database.session() as session:
            rows = session.execute(statement.limit(limit)).all()
        cases = [
            ResolvedCase(**{name: getattr(row, name) for name in ResolvedCase.model_fields})
            for row in rows
        ]
        vectors = [np.frombuffer(row.vector, dtype="<f4") for row in rows]
        return cases, np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)

    def state(self) -> str:
        """See `CaseArchive.state`."""
        statement = select(func.max(ResolvedCaseRow.version), func.count())
        with self._database.session() as session:
            latest, count = session.execute(statement).one()
        return f"{latest}:{count}"
