"""Weeks of which a target was sent a digest."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0022"
down_revision: str | None = "0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "gateway_digest",
        sa.Column("week", sa.String(length=10), nullable=False),
        sa.Column("target", sa.String(length=40), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("week", "target"),
    )


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("gateway_digest")
