"""Whether a name stands in code, or in prose alone, as none did that was kept before."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    told: sa.Column[bool] = sa.Column(
        "in_code", sa.Boolean(), nullable=False, server_default=sa.true()
    )
    op.add_column("ingestion_mention", told)


def downgrade() -> None:
    """Back to the revision before; names in prose are kept no more."""
    op.execute("DELETE FROM ingestion_mention WHERE NOT in_code")
    with op.batch_alter_table("ingestion_mention", schema=None) as batch_op:
        batch_op.drop_column("in_code")
