"""Findings of pages that somebody said are all right, and those that a digest told."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0023"
down_revision: str | None = "0022"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "gateway_dismissed",
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    told = sa.Column("told", sa.Text(), nullable=False, server_default="")
    op.add_column("gateway_digest", told)


def downgrade() -> None:
    """Back to the revision before; what was said of findings is lost."""
    with op.batch_alter_table("gateway_digest", schema=None) as batch_op:
        batch_op.drop_column("told")
    op.drop_table("gateway_dismissed")
