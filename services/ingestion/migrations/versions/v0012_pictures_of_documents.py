"""Pictures that documents name, kept beside them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_DOCUMENT, _PICTURE = "ingestion_document", "ingestion_picture"


def upgrade() -> None:
    """To this revision; the next ingest takes the pictures of what is there."""
    op.create_table(
        _PICTURE,
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("path", sa.String(length=1024), nullable=False),
        sa.Column("fingerprint", sa.String(length=100), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("media_type", sa.String(length=20), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("refusal", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "path"),
    )
    with op.batch_alter_table(_DOCUMENT) as batch_op:
        batch_op.add_column(
            sa.Column("pictures_taken", sa.Boolean(), server_default=sa.false(), nullable=False)
        )


def downgrade() -> None:
    """Back to the revision before; the pictures are gone."""
    with op.batch_alter_table(_DOCUMENT) as batch_op:
        batch_op.drop_column("pictures_taken")
    op.drop_table(_PICTURE)
