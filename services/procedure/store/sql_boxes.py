"""Adapter of `BoxStore` on a SQL table."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import delete, select

from services.kit.batches import batches
from services.kit.sql.database import Database
from services.procedure.tables import BoxRow


class SqlBoxStore:
    """Implements `procedure.ports.BoxStore`; safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        """The table must exist: `database.migrate("procedure")`."""
        self._database = database

    def corrections(self, document_ids: Sequence[str]) -> dict[str, dict[str, bool]]:
        """See `BoxStore.corrections`."""
        found: dict[str, dict[str, bool]] = {}
        with self._database.session() as session:
            for some in batches(document_ids):
                for row in session.scalars(select(BoxRow).where(BoxRow.document_id.in_(some))):
                    found.setdefault(row.document_id, {})[row.key] = row.is_step
        return found

    def put(self, document_id: str, key: str, *, is_step: bool | None, who: str) -> None:
        """See `BoxStore.put`."""
        mine = {"document_id": document_id, "key": key}
        with self._database.session() as session:
            if is_step is None:
                session.execute(delete(BoxRow).filter_by(**mine))
                return
            values = {"is_step": is_step, "who": who[:200], "updated_at": datetime.now(UTC)}
            statement = self._database.insert(BoxRow).values(**mine, **values)
            session.execute(statement.on_conflict_do_update(index_elements=list(mine), set_=values))

    def forget(self, document_ids: Sequence[str]) -> None:
        """See `BoxStore.forget`."""
        with self._database.session() as session:
            for some in batches(document_ids):
                session.execute(delete(BoxRow).where(BoxRow.document_id.in_(some)))
