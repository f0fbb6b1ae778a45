"""All tables of `procedure`, as release v0.1.0-alpha.1 has them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "procedure_answer",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("chances", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("ix_procedure_answer_text_hash", "procedure_answer", ["text_hash"])
    op.create_table(
        "procedure_box",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("is_step", sa.Boolean(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.Column("words", sa.String(length=200), server_default="", nullable=False),
        sa.Column("headings", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("was_step", sa.Boolean(), nullable=True),
        sa.PrimaryKeyConstraint("document_id", "key"),
    )
    op.create_table(
        "procedure_prepared",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("version", sa.String(length=16), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("ix_procedure_prepared_text_hash", "procedure_prepared", ["text_hash"])
    op.create_table(
        "procedure_text",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("reader", sa.String(length=20), nullable=False),
        sa.Column("procedures", sa.Integer(), nullable=False),
        sa.Column("approved", sa.Integer(), nullable=False),
        sa.Column("doubts", sa.Integer(), nullable=False),
        sa.Column("was_approved", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.Column("prepared", sa.String(length=16), nullable=True),
        sa.PrimaryKeyConstraint("text_hash"),
    )
    op.create_table(
        "procedure_approval",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("procedure", sa.JSON(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["text_hash"], ["procedure_text.text_hash"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_procedure_approval_text_hash", "procedure_approval", ["text_hash"])
    op.create_table(
        "procedure_history",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("what", sa.String(length=20), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("before", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("undone", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["text_hash"], ["procedure_text.text_hash"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_procedure_history_text_hash", "procedure_history", ["text_hash"])
    op.create_table(
        "procedure_reading",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("reader", sa.String(length=20), nullable=False),
        sa.Column("version", sa.String(length=200), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("reading", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["text_hash"], ["procedure_text.text_hash"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("text_hash", "reader"),
    )
    op.create_index(
        "ix_procedure_reading_made_by", "procedure_reading", ["reader", "version", "model"]
    )
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
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("settled", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["text_hash"], ["procedure_text.text_hash"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket", "step"),
    )
    op.create_index("ix_procedure_ticket_doubt_text_hash", "procedure_ticket_doubt", ["text_hash"])
