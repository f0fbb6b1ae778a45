"""The service and the teams that a source names."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.add_column(sa.Column("service", sa.Text(), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("teams", sa.JSON(), nullable=False, server_default="[]"))


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.drop_column("teams")
        batch_op.drop_column("service")
