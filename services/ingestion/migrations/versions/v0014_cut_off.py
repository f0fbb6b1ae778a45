"""Documents at whose reading the process of a job ended."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0014"
down_revision: str | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.add_column(
        "ingestion_job", sa.Column("cut_off", sa.JSON(), server_default="{}", nullable=False)
    )
