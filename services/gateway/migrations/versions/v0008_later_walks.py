"""When the latest walk was asked for, and what it had to do without."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.add_column(sa.Column("began_at", sa.Float(), nullable=True))
        batch_op.add_column(sa.Column("degraded", sa.JSON(), nullable=False, server_default="[]"))


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.drop_column("degraded")
        batch_op.drop_column("began_at")
