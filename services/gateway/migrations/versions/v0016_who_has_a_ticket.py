"""Who has a ticket."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | None = "0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_INDEX = "ix_gateway_ticket_holder"


def upgrade() -> None:
    """To this revision."""
    op.add_column("gateway_ticket", sa.Column("holder", sa.String(length=200), nullable=True))
    op.add_column("gateway_ticket", sa.Column("holder_id", sa.String(length=600), nullable=True))
    op.add_column("gateway_ticket", sa.Column("held_at", sa.Float(), nullable=True))
    op.create_index(_INDEX, "gateway_ticket", ["holder_id", "id"])


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_index(_INDEX, "gateway_ticket")
    for column in ("held_at", "holder_id", "holder"):
        op.drop_column("gateway_ticket", column)
