"""Adapters of `AnswerStore` and `PreparedStore` on SQL tables."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from sqlalchemy import delete, false, or_, select, update

from services.kit.batches import batches
from services.kit.sql.database import Database
from services.runbook.ports import JudgedAnswer
from services.runbook.tables import AnswerRow, PreparedRow, TextRow


class SqlAnswerStore:
    """Implements `procedure.ports.AnswerStore`; safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        """Create the store; its tables must exist: `database.migrate("procedure")`."""
        self._database = database
        self._insert = database.insert

    def get_many(self, keys: Collection[str]) -> dict[str, JudgedAnswer]:
        """See `AnswerStore.get_many`."""
        by_key: dict[str, JudgedAnswer] = {}
        with self._database.session() as session:
            for some in batches(keys):
                for row in session.scalars(select(AnswerRow).where(AnswerRow.key.in_(some))):
                    by_key[row.key] = JudgedAnswer(row.text_hash, tuple(row.chances))
        return by_key

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


class SqlPreparedStore:
    """Implements `procedure.ports.PreparedStore`; safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        """Create the store; its tables must exist: `database.migrate("procedure")`."""
        self._database = database
        self._insert = database.insert

    def get_many(self, keys: Collection[str]) -> dict[str, str]:
        """See `PreparedStore.get_many`."""
        by_key: dict[str, str] = {}
        statement = select(PreparedRow.key, PreparedRow.record)
        with self._database.session() as session:
            for some in batches(keys):
                mine = statement.where(PreparedRow.key.in_(some))
                by_key |= dict(session.execute(mine).tuples().all())
        return by_key

    def keep(self, text_hash: str, version: str, records: Mapping[str, str]) -> None:
        """See `PreparedStore.keep`."""
        if not records:
            return
        insert = self._insert(PreparedRow).values(
            [
                {"key": key, "text_hash": text_hash, "version": version, "record": record}
                for key, record in sorted(records.items())
            ]
        )
        kept = insert.on_conflict_do_update(
            index_elements=["key"], set_={"record": insert.excluded.record}
        )
        with self._database.session() as session:
            session.execute(kept)

    def waiting(self, version: str | None, most: int) -> dict[str, datetime]:
        """See `PreparedStore.waiting`."""
        is_other = TextRow.prepared != version if version else false()
        is_old = or_(TextRow.prepared.is_(None), is_other)
        statement = select(TextRow.text_hash, TextRow.updated_at).where(is_old)
        with self._database.session() as session:
            texts = session.execute(statement.order_by(TextRow.text_hash).limit(most))
            return dict(texts.tuples().all())

    def done(self, text_hash: str, version: str, seen_at: datetime, keys: Collection[str]) -> None:
        """See `PreparedStore.done`."""
        is_same = (TextRow.text_hash == text_hash, TextRow.updated_at == seen_at)
        mine = PreparedRow.text_hash == text_hash
        with self._database.session() as session:
            session.execute(update(TextRow).where(*is_same).values(prepared=version))
            session.execute(delete(PreparedRow).where(mine, PreparedRow.key.not_in(keys)))
