"""The text of a page as it may be used is kept beside the whole one."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision; pages that were stored before are screened when they are used."""
    op.add_column("knowledge_document", sa.Column("screening", sa.String(16), nullable=True))
    op.add_column("knowledge_document", sa.Column("screened", sa.Text(), nullable=True))


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_column("knowledge_document", "screened")
    op.drop_column("knowledge_document", "screening")
