"""Workflows that are checklists, their marks, and the page that an alert's author linked."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0024"
down_revision: str | None = "0023"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TABLES = ("gateway_ticket", "gateway_workflow")


def upgrade() -> None:
    """Add what checklists need; workflows that were made before are procedures."""
    link = sa.Column("runbook_url", sa.Text(), nullable=False, server_default="")
    op.add_column("gateway_ticket", link)
    for table in _TABLES:
        kind = sa.Column("kind", sa.String(length=20), nullable=False, server_default="procedure")
        op.add_column(table, kind)
    with op.batch_alter_table("gateway_mark", schema=None) as mark:
        mark.alter_column("state", type_=sa.String(length=20), existing_nullable=False)


def downgrade() -> None:
    """Back to the revision before; what did not apply is open again."""
    op.execute("UPDATE gateway_mark SET state = 'open' WHERE state = 'not_applicable'")
    with op.batch_alter_table("gateway_mark", schema=None) as mark:
        mark.alter_column("state", type_=sa.String(length=10), existing_nullable=False)
    for table in reversed(_TABLES):
        op.drop_column(table, "kind")
    op.drop_column("gateway_ticket", "runbook_url")
