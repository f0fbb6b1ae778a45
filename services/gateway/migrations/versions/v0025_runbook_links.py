"""The page that the author of an alert linked."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0025"
down_revision: str | None = "0024"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the link; tickets from before have none."""
    link = sa.Column("runbook_url", sa.Text(), nullable=False, server_default="")
    op.add_column("gateway_ticket", link)


def downgrade() -> None:
    """Drop the link."""
    op.drop_column("gateway_ticket", "runbook_url")
