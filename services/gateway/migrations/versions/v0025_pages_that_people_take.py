"""Who answered a question, and what people said of pages for a family of tickets."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0025"
down_revision: str | None = "0024"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_WORDS = "gateway_page_word"
_OF_FAMILY = "ix_gateway_page_word_family"


def upgrade() -> None:
    """To this revision; who answered before is not known."""
    by = sa.Column("answered_by", sa.String(length=200), nullable=False, server_default="")
    op.add_column("gateway_clarification", by)
    op.create_table(
        _WORDS,
        sa.Column("key", sa.String(length=64), primary_key=True),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=200), nullable=False),
        sa.Column("is_taken", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
    )
    op.create_index(_OF_FAMILY, _WORDS, ["family"])


def downgrade() -> None:
    """Back to the revision before; what people said of pages is lost."""
    op.drop_index(_OF_FAMILY, _WORDS)
    op.drop_table(_WORDS)
    op.drop_column("gateway_clarification", "answered_by")
