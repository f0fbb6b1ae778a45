"""Bindings that people have approved, or that were learned, by what their step says."""

import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.executor.bindings.binding import Binding
from services.executor.tables import BindingRow
from services.kit.access.audit import add_audit
from services.kit.sql.database import Database
from services.kit.value import Value


class ApprovedBinding(Value):
    """A binding with who vouches for it."""

    binding: Binding
    """Its `step` is of the workflow in which it was approved, or learned."""
    tool_digest: str
    by: str
    """Empty of one that was learned from what was done: nobody vouches for it."""
    at: datetime


class BindingStore:
    """Approved and learned bindings of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def approve(self, key: str, binding: Binding, tool_digest: str, *, by: str) -> None:
        """Keep it in the place of an earlier one of the same step."""
        at = time.time()
        row = {
            "step_key": key,
            "tool_digest": tool_digest,
            "binding": binding.model_dump(mode="json"),
            "by": by,
            "at": at,
        }
        insert = self._database.insert(BindingRow).values(row)
        others = {name: insert.excluded[name] for name in row if name != "step_key"}
        with self._database.session() as session:
            session.execute(insert.on_conflict_do_update(index_elements=["step_key"], set_=others))
            told = {"tool": binding.tool, "tool_digest": tool_digest}
            add_audit(session, "binding.approved", f"binding {key[:32]}", after=told)

    def learn(
        self, session: Session, learned: Mapping[str, Binding], digests: Mapping[str, str]
    ) -> None:
        """Keep bindings by the keys of their steps in the caller's transaction, approved by nobody.

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
        """Those that somebody vouches for, by the keys of their steps."""
        return {key: each for key, each in self.known(keys).items() if each.by}

    def known(self, keys: Collection[str]) -> dict[str, ApprovedBinding]:
        """Those that are approved or learned, by the keys of their steps."""
        mine = select(BindingRow).where(BindingRow.step_key.in_(list(keys)))
        with self._database.session() as session:
            return {
                row.step_key: ApprovedBinding(
                    binding=Binding.model_validate(row.binding),
                    tool_digest=row.tool_digest,
                    by=row.by,
                    at=datetime.fromtimestamp(row.at, UTC),
                )
                for row in session.scalars(mine)
            }
