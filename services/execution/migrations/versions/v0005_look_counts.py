"""Looks that nobody asked for are counted."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "executor_look_count",
        sa.Column("target", sa.String(length=100), nullable=False),
        sa.Column("minute", sa.Integer(), nullable=False),
        sa.Column("looks", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("target", "minute"),
    )
