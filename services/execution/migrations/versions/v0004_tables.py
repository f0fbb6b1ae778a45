"""All tables of `executor`, as release v0.1.0-alpha.1 has them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "executor_binding",
        sa.Column("step_key", sa.String(length=64), nullable=False),
        sa.Column("tool_digest", sa.String(length=64), nullable=False),
        sa.Column("binding", sa.JSON(), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("step", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("instead_of", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("step_key"),
    )
    op.create_index("ix_executor_binding_document_id", "executor_binding", ["document_id"])
    op.create_table(
        "executor_run",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("ticket_id", sa.String(length=200), nullable=False),
        sa.Column("run", sa.JSON(), nullable=False),
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
    op.create_index("ix_executor_run_phase", "executor_run", ["phase"])
    op.create_index("ix_executor_run_ticket", "executor_run", ["ticket_id", "created_at"])
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
    op.create_index("ix_executor_search_phase", "executor_search", ["phase"])
    op.create_index("ix_executor_search_ticket", "executor_search", ["ticket_id", "created_at"])
    op.create_index(
        "uq_executor_search_under_way",
        "executor_search",
        ["ticket_id"],
        unique=True,
        sqlite_where=sa.text("outcome IS NULL"),
        postgresql_where=sa.text("outcome IS NULL"),
    )
    op.create_table(
        "executor_summary",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=300), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("runs", sa.JSON(), nullable=False),
        sa.Column("traces", sa.JSON(), nullable=False),
        sa.Column("found", sa.JSON(), nullable=False),
        sa.Column("refused", sa.JSON(), nullable=False),
        sa.Column("proposals", sa.JSON(), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("proposed_by", sa.String(length=200), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "executor_suspension",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "executor_event",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("step", sa.String(length=200), nullable=False),
        sa.Column("visit", sa.Integer(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["executor_run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "seq", name="uq_executor_event_seq"),
    )
    op.create_table(
        "executor_intent",
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("step", sa.String(length=200), nullable=False),
        sa.Column("visit", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("target", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["executor_run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "step", "visit", "digest"),
    )
    op.create_index("ix_executor_intent_target", "executor_intent", ["target"])
    op.create_table(
        "executor_lock",
        sa.Column("target", sa.String(length=100), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["executor_run.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("target"),
    )
    op.create_index("ix_executor_lock_run_id", "executor_lock", ["run_id"])
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
