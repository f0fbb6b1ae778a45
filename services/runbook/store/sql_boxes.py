"""Adapter of `BoxStore` on a SQL table."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import delete, func, select

from services.kit.access.audit import add_audit
from services.kit.batches import batches
from services.kit.fits.in_use import FitInUse
from services.kit.sql.database import Database
from services.kit.teaching.ledger import forget_teaching, page_subject, record_teaching
from services.knowledge.page.box_fit import BoxHabit, Habit
from services.runbook.ports import BoxWord, MarkedBlock
from services.runbook.tables import BoxRow

_LONGEST = 200
_BY_FORM = "form"


class SqlBoxStore:
    """Implements `procedure.ports.BoxStore`; safe to share between threads and processes."""

    def __init__(self, database: Database, shipped: BoxHabit | None = None) -> None:
        """Create the store; its table must exist: `database.migrate("procedure")`.

        `shipped` are weights of the data folder; learned ones replace only those of the package.
        """
        self._database = database
        self._habit = FitInUse(shipped or BoxHabit.shipped(), database)

    def habit(self) -> Habit:
        """See `BoxStore.habit`."""
        return self._habit.now.habit

    def corrections(self, document_ids: Sequence[str]) -> dict[str, dict[str, bool]]:
        """See `BoxStore.corrections`."""
        by_document: dict[str, dict[str, bool]] = {}
        with self._database.session() as session:
            for some in batches(document_ids):
                for row in session.scalars(select(BoxRow).where(BoxRow.document_id.in_(some))):
                    by_document.setdefault(row.document_id, {})[row.key] = row.is_step
        return by_document

    def corrected_documents(self, most: int) -> list[str]:
        """Return the documents with corrections, latest first, at most so many."""
        latest = func.max(BoxRow.updated_at).desc()
        statement = select(BoxRow.document_id).group_by(BoxRow.document_id).order_by(latest)
        with self._database.session() as session:
            return list(session.scalars(statement.limit(most)))

    def words(self, document_id: str) -> list[BoxWord]:
        """See `BoxStore.words`."""
        rows = select(BoxRow).where(BoxRow.document_id == document_id)
        with self._database.session() as session:
            latest_first = rows.order_by(BoxRow.updated_at.desc(), BoxRow.key)
            return [
                BoxWord(
                    key=row.key,
                    is_step=row.is_step,
                    was_step=row.was_step,
                    words=row.words,
                    headings=tuple(row.headings),
                    who=row.who,
                    at=row.updated_at,
                )
                for row in session.scalars(latest_first)
            ]

    def put(
        self,
        document_id: str,
        key: str,
        *,
        is_step: bool | None,
        who: str,
        block: MarkedBlock | None = None,
    ) -> None:
        """See `BoxStore.put`."""
        mine = {"document_id": document_id, "key": key}
        with self._database.session() as session:
            row = session.get(BoxRow, (document_id, key))
            before = row.is_step if row else None
            if is_step is before:
                return
            by_form = {"is_step": block.was_step if block else None, "by": _BY_FORM}
            audit_before = {"is_step": row.is_step, "by": row.who} if row else by_form
            place = {"key": key, "line": block.line if block else None}
            if is_step is None:
                session.execute(delete(BoxRow).filter_by(**mine))
                audit_after = by_form | place
            else:
                values = {
                    "is_step": is_step,
                    "who": who[:_LONGEST],
                    "updated_at": datetime.now(UTC),
                    "words": block.words[:_LONGEST] if block else "",
                    "headings": list(block.headings) if block else [],
                    "was_step": block.was_step if block else None,
                }
                statement = self._database.insert(BoxRow).values(**mine, **values)
                session.execute(
                    statement.on_conflict_do_update(index_elements=list(mine), set_=values)
                )
                audit_after = {"is_step": is_step, **place}
                record_teaching(session, page_subject(document_id))
            action = "box.taken_back" if is_step is None else "box.corrected"
            add_audit(session, action, f"document {document_id}", audit_before, audit_after)

    def forget(self, document_ids: Sequence[str]) -> None:
        """See `BoxStore.forget`."""
        with self._database.session() as session:
            for some in batches(document_ids):
                session.execute(delete(BoxRow).where(BoxRow.document_id.in_(some)))
            forget_teaching(session, [page_subject(id_) for id_ in document_ids])
