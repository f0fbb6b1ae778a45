"""What of the scores hangs on the page alone is kept."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision; what was read before is prepared in the background."""
    op.add_column("procedure_text", sa.Column("prepared", sa.String(16), nullable=True))
    op.create_table(
        "procedure_prepared",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("text_hash", sa.String(64), nullable=False, index=True),
        sa.Column("version", sa.String(16), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
    )


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("procedure_prepared")
    op.drop_column("procedure_text", "prepared")
