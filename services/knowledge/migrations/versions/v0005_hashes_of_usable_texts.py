"""Documents are found by the hash of the text that is used of them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_INDEX = "ix_knowledge_document_text_hash"


def upgrade() -> None:
    """To this revision; documents that were stored before get theirs in the background."""
    op.add_column("knowledge_document", sa.Column("text_hash", sa.String(64), nullable=True))
    op.create_index(_INDEX, "knowledge_document", ["text_hash"])


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_index(_INDEX, "knowledge_document")
    op.drop_column("knowledge_document", "text_hash")
