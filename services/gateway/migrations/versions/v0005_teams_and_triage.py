"""Teams, and which of them tickets went to."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "gateway_team",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "gateway_triage",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("team", sa.String(length=200), nullable=True),
        sa.Column("by", sa.String(length=10), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id"),
    )


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("gateway_triage")
    op.drop_table("gateway_team")
