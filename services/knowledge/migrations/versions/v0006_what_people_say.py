"""What people write who have the fault of a page."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "knowledge_said",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(length=512), nullable=False),
        sa.Column("version", sa.String(length=36), nullable=False),
        sa.PrimaryKeyConstraint("text_hash", "place"),
    )
    op.create_index("ix_knowledge_said_version", "knowledge_said", ["version"])


def downgrade() -> None:
    """Back to the revision before; the model that reads the pages tells it anew."""
    op.drop_table("knowledge_said")
