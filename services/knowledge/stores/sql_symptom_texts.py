"""Adapter of `SymptomTexts` on an SQL table."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import delete, func, select

from services.kit.ids import time_ordered_id
from services.kit.sql.database import Database
from services.knowledge.ports import Vectors
from services.knowledge.tables import DocumentRow, SymptomTextRow


class SqlSymptomTexts:
    """Symptom texts beside the documents, by the hash of their usable text."""

    def __init__(self, database: Database) -> None:
        """Use the database; its tables must exist: `database.migrate("knowledge")`."""
        self._database = database

    def put(self, text_hash: str, texts: Sequence[str], vectors: Vectors, model: str) -> bool:
        """See `SymptomTexts.put`."""
        with self._database.session() as session:
            session.execute(delete(SymptomTextRow).where(SymptomTextRow.text_hash == text_hash))
            mine = select(DocumentRow.id).where(DocumentRow.text_hash == text_hash).limit(1)
            if session.scalar(mine) is None:
                return False
            version = time_ordered_id()
            session.add_all(
                SymptomTextRow(
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
        """See `SymptomTexts.of_documents`."""
        statement = (
            select(DocumentRow.id, SymptomTextRow.vector)
            .join(SymptomTextRow, SymptomTextRow.text_hash == DocumentRow.text_hash)
            .where(SymptomTextRow.model == model)
            .order_by(DocumentRow.id, SymptomTextRow.place)
        )
        with self._database.session() as session:
            rows = session.execute(statement).all()
        vectors = [np.frombuffer(row.vector, dtype="<f4") for row in rows]
        return [row.id for row in rows], (
            np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)
        )

    def of_other_models(self, model: str, most: int) -> dict[str, list[str]]:
        """See `SymptomTexts.of_other_models`."""
        is_other = SymptomTextRow.model != model
        hashes = select(SymptomTextRow.text_hash).where(is_other).distinct().limit(most)
        texts_by_hash: dict[str, list[str]] = {}
        with self._database.session() as session:
            mine = SymptomTextRow.text_hash.in_(session.scalars(hashes).all())
            statement = select(SymptomTextRow.text_hash, SymptomTextRow.text).where(mine)
            ordered = statement.order_by(SymptomTextRow.text_hash, SymptomTextRow.place)
            for text_hash, text in session.execute(ordered):
                texts_by_hash.setdefault(text_hash, []).append(text)
        return texts_by_hash

    def state(self) -> str:
        """See `SymptomTexts.state`."""
        statement = select(func.max(SymptomTextRow.version), func.count(SymptomTextRow.place))
        with self._database.session() as session:
            latest, count = session.execute(statement).one()
        return f"{latest}:{count}"
