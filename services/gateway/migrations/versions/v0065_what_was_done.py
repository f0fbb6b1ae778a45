"""What was done on tickets, and how much of it the workflow had."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0065"
down_revision: str | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision; what was worked with before keeps its rule."""
    with op.batch_alter_table("gateway_adoption", schema=None) as batch_op:
        batch_op.add_column(sa.Column("did", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("had", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("gateway_adoption", schema=None) as batch_op:
        batch_op.drop_column("had")
        batch_op.drop_column("did")
