"""Doubts that tickets raise."""

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
        "procedure_ticket_doubt",
        sa.Column("ticket", sa.String(length=64), nullable=False),
        sa.Column("step", sa.String(length=400), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("node", sa.String(length=400), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("instead", sa.Text(), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["text_hash"], ["procedure_text.text_hash"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket", "step"),
    )
    with op.batch_alter_table("procedure_ticket_doubt", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_procedure_ticket_doubt_text_hash"), ["text_hash"], unique=False
        )


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("procedure_ticket_doubt", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_procedure_ticket_doubt_text_hash"))
    op.drop_table("procedure_ticket_doubt")
