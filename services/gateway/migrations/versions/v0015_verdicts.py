"""Whether the pages of workflows were checked by a person."""

import json
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_AT_ONCE = 200


def upgrade() -> None:
    """To this revision; of what was planned before, workflows of one approved page are checked."""
    for table in ("gateway_workflow", "gateway_ticket"):
        checked: sa.Column[bool] = sa.Column(
            "is_checked", sa.Boolean(), server_default=sa.false(), nullable=False
        )
        op.add_column(table, checked)
    edited_by = sa.Column("edited_by", sa.String(length=200), server_default="", nullable=False)
    op.add_column("gateway_ticket", edited_by)
    _fill()


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_column("gateway_ticket", "edited_by")
    for table in ("gateway_ticket", "gateway_workflow"):
        op.drop_column(table, "is_checked")


def _fill() -> None:
    connection = op.get_bind()
    ids = connection.execute(sa.text("SELECT id FROM gateway_workflow")).scalars().all()
    asked = _of_ids("SELECT id, body FROM gateway_workflow WHERE id IN :ids")
    checked = _of_ids("UPDATE gateway_workflow SET is_checked = true WHERE id IN :ids")
    for start in range(0, len(ids), _AT_ONCE):
        rows = connection.execute(asked, {"ids": ids[start : start + _AT_ONCE]})
        if of_one := [row.id for row in rows if _is_of_one_approved_page(row.body)]:
            connection.execute(checked, {"ids": of_one})
    shown = "(SELECT {} FROM gateway_workflow w WHERE w.id = gateway_ticket.workflow_id)"
    is_checked, author = shown.format("w.is_checked"), shown.format("w.author")
    connection.execute(
        sa.text(
            f"UPDATE gateway_ticket SET is_checked = COALESCE({is_checked}, false),"  # noqa: S608
            f" edited_by = COALESCE({author}, '') WHERE workflow_id IS NOT NULL"
        )
    )


def _of_ids(statement: str) -> sa.TextClause:
    return sa.text(statement).bindparams(sa.bindparam("ids", expanding=True))


def _is_of_one_approved_page(body: str) -> bool:
    origin = json.loads(body).get("provenance") or {}
    return origin.get("state") == "approved" and len(origin.get("document_ids", ())) == 1
