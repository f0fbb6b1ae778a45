"""Reviews that owners are asked for, the blocks of approved texts, and the harm of commands."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "ingestion_review",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("due", sa.Date(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("document_id"),
    )
    op.create_table(
        "ingestion_approved_blocks",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("keys", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("text_hash"),
    )
    op.add_column(
        "ingestion_document",
        sa.Column("harm", sa.String(length=10), server_default="", nullable=False),
    )
