"""Pages that were proposed, and what people decided about them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TABLE = "ingestion_proposal"
_BY_STATE = "ix_ingestion_proposal_state"


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        _TABLE,
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("original", sa.Text(), nullable=False),
        sa.Column("reading", sa.JSON(), nullable=False),
        sa.Column("runs", sa.JSON(), nullable=False),
        sa.Column("proposed_by", sa.String(length=200), nullable=False),
        sa.Column("proposed_by_id", sa.String(length=400), nullable=False),
        sa.Column("proposed_at", sa.Float(), nullable=False),
        sa.Column("decided_by", sa.String(length=200), nullable=False),
        sa.Column("decided_by_id", sa.String(length=400), nullable=False),
        sa.Column("decided_kind", sa.String(length=20), nullable=False),
        sa.Column("decided_at", sa.Float(), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("validated_at", sa.Float(), nullable=True),
        sa.Column("kept_hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
        sa.UniqueConstraint("document_id"),
    )
    op.create_index(_BY_STATE, _TABLE, ["state", "proposed_at"])


def downgrade() -> None:
    """Back to the revision before; proposals are lost, accepted pages stay documents."""
    op.drop_index(_BY_STATE, _TABLE)
    op.drop_table(_TABLE)
