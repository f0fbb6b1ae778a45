"""Alerts of a ticket: one ticket for a storm, and what tells that tickets belong together."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_DELIVERY = "ix_gateway_ticket_delivery"


def upgrade() -> None:
    """To this revision. Tickets that are there are of no family and get no repeats."""
    op.create_table(
        "gateway_alert",
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("external_id", sa.String(length=400), nullable=False),
        sa.Column("occurrence", sa.String(length=100), nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=True),
        sa.Column("came_at", sa.Float(), nullable=False),
        sa.Column("over_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["ticket_id"],
            ["gateway_ticket.id"],
            ondelete="CASCADE",
            deferrable=True,
            initially="DEFERRED",
        ),
        sa.PrimaryKeyConstraint("source", "external_id", "occurrence"),
    )
    op.create_index("ix_gateway_alert_ticket", "gateway_alert", ["ticket_id"])
    op.execute(
        "INSERT INTO gateway_alert "
        "SELECT source, external_id, occurrence, id, created_at, resolved_at FROM gateway_ticket"
    )
    op.execute(
        "INSERT INTO gateway_alert "
        "SELECT source, external_id, occurrence, NULL, said_at, said_at FROM gateway_resolution"
    )
    op.drop_table("gateway_resolution")
    with op.batch_alter_table("gateway_ticket") as batch_op:
        batch_op.drop_index(_DELIVERY)
        batch_op.add_column(
            sa.Column("fingerprint", sa.String(32), nullable=False, server_default="")
        )
        batch_op.add_column(sa.Column("family", sa.String(32), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("alerts", sa.Integer(), nullable=False, server_default="1"))
        batch_op.add_column(sa.Column("last_at", sa.Float(), nullable=False, server_default="0"))
        batch_op.create_index("ix_gateway_ticket_fingerprint", ["fingerprint", "id"])
        batch_op.create_index("ix_gateway_ticket_family", ["family", "id"])
        batch_op.create_index("ix_gateway_ticket_service", ["service", "id"])
    op.execute("UPDATE gateway_ticket SET last_at = created_at")


def downgrade() -> None:
    """Back to the revision before. What is known of repeated alerts is lost."""
    with op.batch_alter_table("gateway_ticket") as batch_op:
        for index in ("fingerprint", "family", "service"):
            batch_op.drop_index(f"ix_gateway_ticket_{index}")
        for column in ("fingerprint", "family", "alerts", "last_at"):
            batch_op.drop_column(column)
        batch_op.create_index(_DELIVERY, ["source", "external_id", "occurrence"], unique=True)
    op.create_table(
        "gateway_resolution",
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("external_id", sa.String(length=400), nullable=False),
        sa.Column("occurrence", sa.String(length=100), nullable=False),
        sa.Column("said_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("source", "external_id", "occurrence"),
    )
    op.execute(
        "INSERT INTO gateway_resolution "
        "SELECT source, external_id, occurrence, over_at FROM gateway_alert "
        "WHERE ticket_id IS NULL"
    )
    op.drop_table("gateway_alert")
