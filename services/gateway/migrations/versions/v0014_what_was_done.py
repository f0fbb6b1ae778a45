"""What was done on tickets, and how much of it the workflow had."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0014"
down_revision: str | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision; what was worked with before keeps its rule."""
    for name in ("did", "had"):
        op.add_column("gateway_adoption", sa.Column(name, sa.Integer(), nullable=True))


def downgrade() -> None:
    """Back to the revision before."""
    for name in ("had", "did"):
        op.drop_column("gateway_adoption", name)
