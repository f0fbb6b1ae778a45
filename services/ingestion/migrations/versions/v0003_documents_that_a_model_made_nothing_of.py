"""Documents that a model made nothing of."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "ingestion_unbuilt",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("recipe", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("document_id"),
    )


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("ingestion_unbuilt")
