"""Answers in own words that did not settle their question are kept with it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0018"
down_revision: str | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    with op.batch_alter_table("gateway_clarification", schema=None) as batch_op:
        batch_op.add_column(sa.Column("said", sa.JSON(), nullable=False, server_default="[]"))


def downgrade() -> None:
    """Back to the revision before; these answers are lost."""
    with op.batch_alter_table("gateway_clarification", schema=None) as batch_op:
        batch_op.drop_column("said")
