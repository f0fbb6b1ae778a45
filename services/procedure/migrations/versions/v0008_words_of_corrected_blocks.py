"""The first words of a corrected block, its headings, and whether it was a step by its form."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the columns; of earlier corrections they are not known."""
    op.add_column(
        "procedure_box", sa.Column("words", sa.String(200), nullable=False, server_default="")
    )
    op.add_column(
        "procedure_box", sa.Column("headings", sa.JSON(), nullable=False, server_default="[]")
    )
    op.add_column("procedure_box", sa.Column("was_step", sa.Boolean(), nullable=True))


def downgrade() -> None:
    """Drop them."""
    with op.batch_alter_table("procedure_box") as table:
        for name in ("was_step", "headings", "words"):
            table.drop_column(name)
