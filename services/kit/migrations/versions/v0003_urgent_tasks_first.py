"""Urgent tasks first."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.add_column("outbox", sa.Column("priority", sa.Integer(), nullable=False, server_default="6"))


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_column("outbox", "priority")
