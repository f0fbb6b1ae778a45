"""Ends that came first."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "gateway_resolution",
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("external_id", sa.String(length=400), nullable=False),
        sa.Column("occurrence", sa.String(length=100), nullable=False),
        sa.Column("said_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("source", "external_id", "occurrence"),
    )


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("gateway_resolution")
