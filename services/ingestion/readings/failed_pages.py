"""Pages that a model failed at, in SQL: they come last when it reads again."""

from datetime import UTC, datetime

from sqlalchemy import delete, select

from services.ingestion.tables import UnreadRow
from services.kit.sql.database import Database


class FailedPages:
    """Reasons by the hash of the text, for one prompt and model."""

    def __init__(self, database: Database, recipe: str) -> None:
        """`recipe` names prompt and model: what one failed at another may read."""
        self._database = database
        self._recipe = recipe[:400]

    def reasons(self) -> dict[str, str]:
        """By text hash, the page that was tried last behind."""
        mine = select(UnreadRow).where(UnreadRow.recipe == self._recipe)
        with self._database.session() as session:
            rows = session.scalars(mine.order_by(UnreadRow.updated_at, UnreadRow.text_hash))
            return {row.text_hash: row.reason for row in rows}

    def note(self, text_hash: str, reason: str) -> None:
        """The model failed at it just now."""
        row = UnreadRow(
            text_hash=text_hash,
            recipe=self._recipe,
            reason=reason,
            updated_at=datetime.now(UTC),
        )
        with self._database.session() as session:
            session.merge(row)

    def clear(self, text_hash: str) -> None:
        """It is read now."""
        mine = (UnreadRow.text_hash == text_hash) & (UnreadRow.recipe == self._recipe)
        with self._database.session() as session:
            session.execute(delete(UnreadRow).where(mine))
