"""Texts of documents and pages left unread."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "ingestion_unread",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("recipe", sa.String(length=400), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("text_hash", "recipe"),
    )
    with op.batch_alter_table("ingestion_document", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("text_hash", sa.String(length=64), server_default="", nullable=False)
        )
        batch_op.create_index(
            batch_op.f("ix_ingestion_document_text_hash"), ["text_hash"], unique=False
        )
    with op.batch_alter_table("ingestion_job", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("approved_deleted", sa.Integer(), server_default="0", nullable=False)
        )


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("ingestion_job", schema=None) as batch_op:
        batch_op.drop_column("approved_deleted")
    with op.batch_alter_table("ingestion_document", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_ingestion_document_text_hash"))
        batch_op.drop_column("text_hash")
    op.drop_table("ingestion_unread")
