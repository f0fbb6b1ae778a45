"""Names and links that documents have, and had."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_SURVEYED, _MENTION = "ingestion_surveyed", "ingestion_mention"
_BY_TEXT, _BY_WHAT = "ix_ingestion_surveyed_text_hash", "ix_ingestion_mention_what"


def upgrade() -> None:
    """To this revision; what documents mention is looked at when it is first asked for."""
    op.create_table(
        _SURVEYED,
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("gone_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("document_id"),
    )
    op.create_index(_BY_TEXT, _SURVEYED, ["text_hash"])
    op.create_table(
        _MENTION,
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("what", sa.String(length=300), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("line_hash", sa.String(length=16), nullable=False),
        sa.Column("line_at", sa.Float(), nullable=False),
        sa.Column("led_to", sa.String(length=1024), nullable=False, server_default=""),
        sa.Column("led_until", sa.Float(), nullable=True),
        sa.Column("gone_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("document_id", "kind", "what"),
        sa.ForeignKeyConstraint(["document_id"], [f"{_SURVEYED}.document_id"], ondelete="CASCADE"),
    )
    op.create_index(_BY_WHAT, _MENTION, ["kind", "what"])


def downgrade() -> None:
    """Back to the revision before; what was mentioned once is forgotten."""
    op.drop_index(_BY_WHAT, _MENTION)
    op.drop_table(_MENTION)
    op.drop_index(_BY_TEXT, _SURVEYED)
    op.drop_table(_SURVEYED)
