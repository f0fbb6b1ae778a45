"""Tickets and workflows."""

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
        "gateway_idempotency",
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "gateway_ticket",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("external_id", sa.String(length=400), nullable=False),
        sa.Column("occurrence", sa.String(length=100), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("alert_name", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("nearest", sa.JSON(), nullable=False),
        sa.Column("workflow_id", sa.String(length=36), nullable=True),
        sa.Column("overall", sa.Float(), nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.Column("resolved_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.create_index(
            "ix_gateway_ticket_delivery", ["source", "external_id", "occurrence"], unique=True
        )
        batch_op.create_index("ix_gateway_ticket_source", ["source", "id"], unique=False)
        batch_op.create_index("ix_gateway_ticket_status", ["status", "id"], unique=False)

    op.create_table(
        "gateway_event",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("gateway_event", schema=None) as batch_op:
        batch_op.create_index("ix_gateway_event_ticket", ["ticket_id", "id"], unique=False)

    op.create_table(
        "gateway_workflow",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("planner", sa.String(length=100), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("seconds", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("gateway_workflow", schema=None) as batch_op:
        batch_op.create_index("ix_gateway_workflow_rank", ["ticket_id", "rank"], unique=True)

    op.create_table(
        "gateway_score",
        sa.Column("workflow_id", sa.String(length=36), nullable=False),
        sa.Column("overall", sa.Float(), nullable=False),
        sa.Column("relevance", sa.Float(), nullable=False),
        sa.Column("coverage", sa.Float(), nullable=False),
        sa.Column("accuracy", sa.Float(), nullable=False),
        sa.Column("coherence", sa.Float(), nullable=False),
        sa.Column("conciseness", sa.Float(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["workflow_id"], ["gateway_workflow.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("workflow_id"),
    )


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("gateway_score")
    with op.batch_alter_table("gateway_workflow", schema=None) as batch_op:
        batch_op.drop_index("ix_gateway_workflow_rank")

    op.drop_table("gateway_workflow")
    with op.batch_alter_table("gateway_event", schema=None) as batch_op:
        batch_op.drop_index("ix_gateway_event_ticket")

    op.drop_table("gateway_event")
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.drop_index("ix_gateway_ticket_status")
        batch_op.drop_index("ix_gateway_ticket_source")
        batch_op.drop_index("ix_gateway_ticket_delivery")

    op.drop_table("gateway_ticket")
    op.drop_table("gateway_idempotency")
