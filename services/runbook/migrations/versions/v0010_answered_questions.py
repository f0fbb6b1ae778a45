"""Questions about a page that people have answered."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "procedure_answered_question",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("block", sa.String(length=80), nullable=False),
        sa.ForeignKeyConstraint(["text_hash"], ["procedure_text.text_hash"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("text_hash", "id"),
    )
