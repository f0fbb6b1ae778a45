"""Adapter of `AnswerStore` on SQL tables."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from sqlalchemy import select

from services.kit.batches import batches
from services.kit.sql.database import Database
from services.procedure.ports import JudgedAnswer
from services.procedure.tables import AnswerRow


class SqlAnswerStore:
    """Implements `procedure.ports.AnswerStore`; safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        """The tables must exist: `database.migrate("procedure")`."""
        self._database = database
        self._insert = database.insert

    def known(self, keys: Collection[str]) -> dict[str, JudgedAnswer]:
        """See `AnswerStore.known`."""
        found: dict[str, JudgedAnswer] = {}
        with self._database.session() as session:
            for some in batches(keys):
                for row in session.scalars(select(AnswerRow).where(AnswerRow.key.in_(some))):
                    found[row.key] = JudgedAnswer(row.text_hash, tuple(row.chances))
        return found

    def keep(self, answers: Mapping[str, JudgedAnswer]) -> None:
        """See `AnswerStore.keep`."""
        now = datetime.now(UTC)
        with self._database.session() as session:
            for key, answer in sorted(answers.items()):
                values = {
                    "text_hash": answer.text_hash,
                    "chances": list(answer.chances),
                    "updated_at": now,
                }
                statement = self._insert(AnswerRow).values(key=key, **values)
                session.execute(
                    statement.on_conflict_do_update(index_elements=["key"], set_=values)
                )
