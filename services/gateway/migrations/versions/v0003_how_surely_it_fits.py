"""How surely it fits."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision; what was planned before was planned because it fitted."""
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.add_column(sa.Column("fit", sa.String(length=10), nullable=True))
        batch_op.add_column(sa.Column("against", sa.JSON(), nullable=False, server_default="[]"))
    with op.batch_alter_table("gateway_workflow", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("fit", sa.String(length=10), nullable=False, server_default="sure")
        )
        batch_op.add_column(sa.Column("against", sa.JSON(), nullable=False, server_default="[]"))
    op.execute("UPDATE gateway_ticket SET fit = 'sure' WHERE workflow_id IS NOT NULL")


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("gateway_workflow", schema=None) as batch_op:
        batch_op.drop_column("against")
        batch_op.drop_column("fit")
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.drop_column("against")
        batch_op.drop_column("fit")
