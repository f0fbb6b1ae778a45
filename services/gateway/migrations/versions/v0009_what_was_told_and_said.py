"""What systems were told of tickets, and what was said about them there."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "gateway_told",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("target", sa.String(length=40), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("digests", sa.JSON(), nullable=False),
        sa.Column("question_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id", "target"),
    )
    op.create_table(
        "gateway_comment",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=100), nullable=False),
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id", "id"),
    )


def downgrade() -> None:
    """Back to the revision before; systems may be told again."""
    op.drop_table("gateway_comment")
    op.drop_table("gateway_told")
