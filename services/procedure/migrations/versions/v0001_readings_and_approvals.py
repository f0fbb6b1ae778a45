"""Readings and approvals."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "procedure_text",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("reader", sa.String(length=20), nullable=False),
        sa.Column("procedures", sa.Integer(), nullable=False),
        sa.Column("approved", sa.Integer(), nullable=False),
        sa.Column("doubts", sa.Integer(), nullable=False),
        sa.Column("was_approved", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("text_hash"),
    )
    op.create_table(
        "procedure_approval",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("procedure", sa.JSON(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["text_hash"], ["procedure_text.text_hash"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("procedure_approval", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_procedure_approval_text_hash"), ["text_hash"], unique=False
        )
    op.create_table(
        "procedure_history",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("what", sa.String(length=20), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("undone", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["text_hash"], ["procedure_text.text_hash"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("procedure_history", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_procedure_history_text_hash"), ["text_hash"], unique=False
        )
    op.create_table(
        "procedure_reading",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("reader", sa.String(length=20), nullable=False),
        sa.Column("version", sa.String(length=200), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("reading", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["text_hash"], ["procedure_text.text_hash"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("text_hash", "reader"),
    )
    with op.batch_alter_table("procedure_reading", schema=None) as batch_op:
        batch_op.create_index(
            "ix_procedure_reading_made_by", ["reader", "version", "model"], unique=False
        )


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("procedure_reading", schema=None) as batch_op:
        batch_op.drop_index("ix_procedure_reading_made_by")
    op.drop_table("procedure_reading")
    with op.batch_alter_table("procedure_history", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_procedure_history_text_hash"))
    op.drop_table("procedure_history")
    with op.batch_alter_table("procedure_approval", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_procedure_approval_text_hash"))
    op.drop_table("procedure_approval")
    op.drop_table("procedure_text")
