"""What spoke for which page when a ticket was first walked."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0021"
down_revision: str | None = "0020"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "gateway_served",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("is_alert", sa.Boolean(), nullable=False),
        sa.Column("pages", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id"),
    )


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("gateway_served")
