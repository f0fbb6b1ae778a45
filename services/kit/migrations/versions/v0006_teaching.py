"""Who taught by what, whose teaching is taken back, and who holds a key."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision: of nobody's keys, and with nobody who taught."""
    op.create_table(
        "teaching",
        sa.Column("subject", sa.String(length=400), nullable=False),
        sa.Column("caller_id", sa.String(length=400), nullable=False),
        sa.Column("caller", sa.String(length=200), nullable=False),
        sa.Column("teacher", sa.String(length=400), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "caller_id"),
    )
    op.create_index("ix_teaching_teacher", "teaching", ["teacher", "at"])
    op.create_table(
        "teaching_withdrawal",
        sa.Column("caller_id", sa.String(length=400), nullable=False),
        sa.Column("caller", sa.String(length=200), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("caller_id"),
    )
    op.add_column(
        "api_key", sa.Column("owner", sa.String(length=255), server_default="", nullable=False)
    )
