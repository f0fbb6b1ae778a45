"""Tickets whose engineers want no more questions."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision; who had gone on without an answer wants no more questions."""
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("asks", sa.Boolean(), nullable=False, server_default=sa.true())
        )
    op.execute(
        "UPDATE gateway_ticket SET asks = false WHERE id IN"
        " (SELECT ticket_id FROM gateway_clarification WHERE state = 'dismissed')"
    )


def downgrade() -> None:
    """Back to the revision before; where no question was open, that none is wanted is lost."""
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.drop_column("asks")
