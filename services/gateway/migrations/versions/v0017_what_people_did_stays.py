"""What people did stays when a ticket is walked again."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0017"
down_revision: str | None = "0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_COLUMNS = (
    sa.Column("told", sa.JSON(), nullable=True),
    sa.Column("seen_by", sa.String(length=200), nullable=True),
    sa.Column("from_candidate", sa.String(length=36), nullable=True),
    sa.Column("from_step", sa.String(length=400), nullable=True),
    sa.Column("from_at", sa.Float(), nullable=True),
)


def upgrade() -> None:
    """To this revision; earlier marks were made on what their candidates say."""
    for column in _COLUMNS:
        op.add_column("gateway_mark", column.copy())
    op.create_table(
        "gateway_left_behind",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("told", sa.JSON(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_gateway_left_behind_ticket", "gateway_left_behind", ["ticket_id", "id"])


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("gateway_left_behind")
    for column in _COLUMNS:
        op.drop_column("gateway_mark", column.name)
