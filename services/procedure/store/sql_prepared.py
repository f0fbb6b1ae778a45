"""Adapter of `PreparedStore` on SQL tables."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import delete, false, or_, select, update

from services.kit.batches import batches
from services.kit.sql.database import Database
from services.procedure.tables import PreparedRow, TextRow


class SqlPreparedStore:
    """Implements `procedure.ports.PreparedStore`; safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        """The tables must exist: `database.migrate("procedure")`."""
        self._database = database
        self._insert = database.insert

    def known(self, keys: Collection[str]) -> dict[str, str]:
        """See `PreparedStore.known`."""
        found: dict[str, str] = {}
        statement = select(PreparedRow.key, PreparedRow.record)
        with self._database.session() as session:
            for some in batches(keys):
                mine = statement.where(PreparedRow.key.in_(some))
                found |= dict(session.execute(mine).tuples().all())
        return found

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
            found = session.execute(statement.order_by(TextRow.text_hash).limit(most))
            return dict(found.tuples().all())

    def done(self, text_hash: str, version: str, seen_at: datetime, keys: Collection[str]) -> None:
        """See `PreparedStore.done`."""
        is_same = (TextRow.text_hash == text_hash, TextRow.updated_at == seen_at)
        mine = PreparedRow.text_hash == text_hash
        with self._database.session() as session:
            session.execute(update(TextRow).where(*is_same).values(prepared=version))
            session.execute(delete(PreparedRow).where(mine, PreparedRow.key.not_in(keys)))
