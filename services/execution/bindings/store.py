"""Bindings that people have approved, or that were learned, by the keys of their steps."""

import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from services.execution.bindings.binding import Binding
from services.execution.tables import BindingRow
from services.kit.access.audit import add_audit
from services.kit.errors import NotFoundError
from services.kit.sql.database import Database, execute_and_count
from services.kit.value import Value
from services.workflow.model import Step

_STEP_FIELDS = frozenset({"id", "kind", "text", "commands", "citations", "node", "block"})
"""Fields of a step that are stored beside its binding."""


class ApprovedBinding(Value):
    """Stored binding, with the name of its approver."""

    binding: Binding
    """Binding; its `step` is of the workflow in which it was approved or learned."""
    tool_digest: str
    by: str
    """Name of the approver; empty for one that was learned: nobody vouches for it."""
    at: datetime
    key: str
    step: Step | None = None
    """Step for which it was approved; None if that is not recorded."""
    instead_of: str = ""
    """Key of the binding that it replaces, of a reading that is gone."""


class BindingStore:
    """Store of the approved and learned bindings of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def approve(
        self,
        key: str,
        binding: Binding,
        tool_digest: str,
        step: Step,
        *,
        by: str,
        instead_of: str = "",
    ) -> None:
        """Store an approved binding; it replaces an earlier one of the same step."""
        at = time.time()
        row = {
            "step_key": key,
            "tool_digest": tool_digest,
            "binding": binding.model_dump(mode="json"),
            "by": by,
            "at": at,
            "document_id": step.citations[0].document_id if step.citations else "",
            "step": step.model_dump(mode="json", include=set(_STEP_FIELDS)),
            "instead_of": instead_of,
        }
        insert = self._database.insert(BindingRow).values(row)
        others = {name: insert.excluded[name] for name in row if name != "step_key"}
        with self._database.session() as session:
            session.execute(insert.on_conflict_do_update(index_elements=["step_key"], set_=others))
            summary = {"tool": binding.tool, "tool_digest": tool_digest}
            add_audit(session, "binding.approved", f"binding {key[:32]}", after=summary)

    def withdraw(self, key: str) -> None:
        """Delete an approved binding; its step is a person's until somebody approves another one.

        Raises:
            NotFoundError: Nobody has approved one of this key.
        """
        approved = delete(BindingRow).where(BindingRow.step_key == key, BindingRow.by != "")
        with self._database.session() as session:
            if execute_and_count(session, approved) != 1:
                raise NotFoundError(f"nobody has approved a binding {key[:64]!r}")
            add_audit(session, "binding.withdrawn", f"binding {key[:32]}")

    def learn(
        self, session: Session, learned: Mapping[str, Binding], digests: Mapping[str, str]
    ) -> None:
        """Store bindings by their step keys in the caller's transaction, approved by nobody.

        One that somebody has approved stays. `digests` are those of the tools, by name.
        """
        at = time.time()
        rows = [
            {
                "step_key": key,
                "tool_digest": digests[binding.tool],
                "binding": binding.model_dump(mode="json"),
                "by": "",
                "at": at,
                "document_id": "",
                "instead_of": "",
            }
            for key, binding in learned.items()
        ]
        if not rows:
            return
        insert = self._database.insert(BindingRow).values(rows)
        others = {name: insert.excluded[name] for name in ("tool_digest", "binding", "at")}
        session.execute(
            insert.on_conflict_do_update(
                index_elements=["step_key"], set_=others, where=BindingRow.by == ""
            )
        )

    def approved(self, keys: Collection[str]) -> dict[str, ApprovedBinding]:
        """Return the bindings that somebody vouches for, by the keys of their steps."""
        return {key: each for key, each in self.load_many(keys).items() if each.by}

    def load_many(self, keys: Collection[str]) -> dict[str, ApprovedBinding]:
        """Return the bindings that are approved or learned, by the keys of their steps."""
        mine = select(BindingRow).where(BindingRow.step_key.in_(list(keys)))
        with self._database.session() as session:
            return {row.step_key: _approved(row) for row in session.scalars(mine)}

    def of_documents(self, document_ids: Collection[str]) -> list[ApprovedBinding]:
        """Return approved bindings of steps that cite one of these documents first.

        The oldest comes first.
        """
        mine = select(BindingRow).where(
            BindingRow.document_id.in_(list(document_ids)), BindingRow.by != ""
        )
        with self._database.session() as session:
            rows = session.scalars(mine.order_by(BindingRow.at, BindingRow.step_key))
            return [_approved(row) for row in rows]


def _approved(row: BindingRow) -> ApprovedBinding:
    return ApprovedBinding(
        binding=Binding.model_validate(row.binding),
        tool_digest=row.tool_digest,
        by=row.by,
        at=datetime.fromtimestamp(row.at, UTC),
        key=row.step_key,
        step=Step.model_validate(row.step) if row.step else None,
        instead_of=row.instead_of,
    )
