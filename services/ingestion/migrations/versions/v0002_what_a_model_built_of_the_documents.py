"""What a model built of the documents."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "ingestion_built",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("recipe", sa.String(length=32), nullable=False),
        sa.Column("nodes", sa.JSON(), nullable=False),
        sa.Column("tally", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("document_id"),
    )
    with op.batch_alter_table("ingestion_built", schema=None) as batch_op:
        batch_op.create_index("ix_ingestion_built_recipe", ["recipe"], unique=False)


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("ingestion_built", schema=None) as batch_op:
        batch_op.drop_index("ix_ingestion_built_recipe")

    op.drop_table("ingestion_built")
