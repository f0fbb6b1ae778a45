"""Past tickets and their teams."""

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
        "knowledge_case",
        sa.Column("id", sa.String(length=512), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("team", sa.String(length=512), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("version", sa.String(length=36), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_knowledge_case_at", "knowledge_case", ["at", "id"])
    op.create_index("ix_knowledge_case_team", "knowledge_case", ["team"])
    op.create_index("ix_knowledge_case_version", "knowledge_case", ["version"])
    op.create_table(
        "knowledge_case_entity",
        sa.Column("case_id", sa.String(length=512), nullable=False),
        sa.Column("entity", sa.String(length=512), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["case_id"], ["knowledge_case.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("case_id", "entity"),
    )
    op.create_index("ix_knowledge_case_entity_entity", "knowledge_case_entity", ["entity"])


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("knowledge_case_entity")
    op.drop_table("knowledge_case")
