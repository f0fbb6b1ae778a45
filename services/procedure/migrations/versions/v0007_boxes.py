"""What people say of the blocks of pages: steps to tick off, or none."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "procedure_box",
        sa.Column("document_id", sa.String(1024), primary_key=True),
        sa.Column("key", sa.String(40), primary_key=True),
        sa.Column("is_step", sa.Boolean(), nullable=False),
        sa.Column("who", sa.String(200), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("procedure_box")
