"""Resolved tickets as typical cases of pages."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "knowledge_resolved_case",
        sa.Column("id", sa.String(length=512), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("told", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(length=512), nullable=False),
        sa.Column("version", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["knowledge_document.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    columns = ["document_id", "at"]
    op.create_index("ix_knowledge_resolved_case_at", "knowledge_resolved_case", columns)
    op.create_index("ix_knowledge_resolved_case_version", "knowledge_resolved_case", ["version"])


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("knowledge_resolved_case")
