"""Teams of documents."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "ingestion_owner",
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("prefix", sa.String(length=1024), nullable=False),
        sa.Column("team", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("root", "prefix"),
    )


def downgrade() -> None:
    """Back to the revision before; which team looks after what is lost."""
    op.drop_table("ingestion_owner")
