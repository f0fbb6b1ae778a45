"""What was done with the boxes of pages that the page of a ticket links to."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0026"
down_revision: str | None = "0025"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_MARKS = "gateway_linked_mark"


def upgrade() -> None:
    """To this revision; nobody marked anything on a linked page before."""
    ticket = sa.ForeignKey("gateway_ticket.id", ondelete="CASCADE")
    op.create_table(
        _MARKS,
        sa.Column("ticket_id", sa.String(length=36), ticket, primary_key=True),
        sa.Column("document_id", sa.String(length=1024), primary_key=True),
        sa.Column("box", sa.String(length=40), primary_key=True),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("seen_by", sa.String(length=200), nullable=False),
        sa.Column("marked_by", sa.String(length=200), nullable=False),
        sa.Column("marked_at", sa.Float(), nullable=True),
        sa.Column("told", sa.JSON(), nullable=False),
    )


def downgrade() -> None:
    """Back to the revision before; what was done on linked pages is lost."""
    op.drop_table(_MARKS)
