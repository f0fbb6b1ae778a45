"""Answers of a judge."""

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
        "procedure_answer",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("chances", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    with op.batch_alter_table("procedure_answer", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_procedure_answer_text_hash"), ["text_hash"], unique=False
        )


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("procedure_answer", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_procedure_answer_text_hash"))

    op.drop_table("procedure_answer")
