"""Who brought a comment: only a delivery that its source signed is the source's own."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0029"
down_revision: str | None = "0028"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision: of the comments so far nobody is recorded, and most are read."""
    for name, length in (("caller", 200), ("caller_id", 400), ("caller_kind", 20)):
        column = sa.Column(name, sa.String(length=length), server_default="", nullable=False)
        op.add_column("gateway_comment", column)
