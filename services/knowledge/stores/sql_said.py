"""Adapter of `SaidTexts` on an SQL table."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import delete, func, select

from services.kit.ids import time_ordered_id
from services.kit.sql.database import Database
from services.knowledge.ports import Vectors
from services.knowledge.tables import DocumentRow, SaidRow


class SqlSaidTexts:
    """Beside the documents, by the hash of their usable text."""

    def __init__(self, database: Database) -> None:
        """The tables must exist: `database.migrate("knowledge")`."""
        self._database = database

    def put(self, text_hash: str, texts: Sequence[str], vectors: Vectors, model: str) -> bool:
        """See `SaidTexts.put`."""
        with self._database.session() as session:
            session.execute(delete(SaidRow).where(SaidRow.text_hash == text_hash))
            mine = select(DocumentRow.id).where(DocumentRow.text_hash == text_hash).limit(1)
            if session.scalar(mine) is None:
                return False
            version = time_ordered_id()
            session.add_all(
                SaidRow(
                    text_hash=text_hash,
                    place=place,
                    text=text,
                    vector=np.asarray(vector, dtype="<f4").tobytes(),
                    model=model,
                    version=version,
                )
                for place, (text, vector) in enumerate(zip(texts, vectors, strict=True))
            )
        return True

    def of_documents(self, model: str) -> tuple[list[str], Vectors]:
        """See `SaidTexts.of_documents`."""
        statement = (
            select(DocumentRow.id, SaidRow.vector)
            .join(SaidRow, SaidRow.text_hash == DocumentRow.text_hash)
            .where(SaidRow.model == model)
            .order_by(DocumentRow.id, SaidRow.place)
        )
        with self._database.session() as session:
            rows = session.execute(statement).all()
        vectors = [np.frombuffer(row.vector, dtype="<f4") for row in rows]
        return [row.id for row in rows], (
            np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)
        )

    def of_other_models(self, model: str, most: int) -> dict[str, list[str]]:
        """See `SaidTexts.of_other_models`."""
        is_other = SaidRow.model != model
        hashes = select(SaidRow.text_hash).where(is_other).distinct().limit(most)
        found: dict[str, list[str]] = {}
        with self._database.session() as session:
            mine = SaidRow.text_hash.in_(session.scalars(hashes).all())
            statement = select(SaidRow.text_hash, SaidRow.text).where(mine)
            ordered = statement.order_by(SaidRow.text_hash, SaidRow.place)
            for text_hash, text in session.execute(ordered):
                found.setdefault(text_hash, []).append(text)
        return found

    def state(self) -> str:
        """See `SaidTexts.state`."""
        statement = select(func.max(SaidRow.version), func.count(SaidRow.place))
        with self._database.session() as session:
            latest, count = session.execute(statement).one()
        return f"{latest}:{count}"
