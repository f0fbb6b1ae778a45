"""Time left of a job."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    with op.batch_alter_table("ingestion_job", schema=None) as batch_op:
        batch_op.add_column(sa.Column("seconds_left", sa.Float(), nullable=True))


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("ingestion_job", schema=None) as batch_op:
        batch_op.drop_column("seconds_left")
