"""Searches for causes and their events."""

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
        "executor_search",
        sa.Column("search", sa.JSON(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("ticket_id", sa.String(length=200), nullable=False),
        sa.Column("phase", sa.String(length=20), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=True),
        sa.Column("waits_until", sa.Float(), nullable=True),
        sa.Column("waits_for", sa.Text(), nullable=False),
        sa.Column("driver", sa.String(length=40), nullable=True),
        sa.Column("driven_until", sa.Float(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("executor_search", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_executor_search_phase"), ["phase"], unique=False)
        batch_op.create_index(
            "ix_executor_search_ticket", ["ticket_id", "created_at"], unique=False
        )
        batch_op.create_index(
            "uq_executor_search_under_way",
            ["ticket_id"],
            unique=True,
            sqlite_where=sa.text("outcome IS NULL"),
            postgresql_where=sa.text("outcome IS NULL"),
        )

    op.create_table(
        "executor_search_event",
        sa.Column("search_id", sa.String(length=40), nullable=False),
        sa.Column("node", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["search_id"], ["executor_search.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("search_id", "seq", name="uq_executor_search_event_seq"),
    )


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("executor_search_event")
    with op.batch_alter_table("executor_search", schema=None) as batch_op:
        batch_op.drop_index("uq_executor_search_under_way")
        batch_op.drop_index("ix_executor_search_ticket")
        batch_op.drop_index(batch_op.f("ix_executor_search_phase"))

    op.drop_table("executor_search")
