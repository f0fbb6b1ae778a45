"""How a workflow comes from its page, as a procedure or as a checklist, and room for its marks."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0024"
down_revision: str | None = "0023"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TABLES = ("gateway_ticket", "gateway_workflow")


def upgrade() -> None:
    """To this revision; workflows that were made before are procedures."""
    for table in _TABLES:
        kind = sa.Column("kind", sa.String(length=20), nullable=False, server_default="procedure")
        op.add_column(table, kind)
    with op.batch_alter_table("gateway_mark", schema=None) as mark:
        mark.alter_column("state", type_=sa.String(length=20), existing_nullable=False)


def downgrade() -> None:
    """Back to the revision before; what did not apply is open again."""
    op.execute("UPDATE gateway_mark SET state = 'open' WHERE state = 'not_applicable'")
    with op.batch_alter_table("gateway_mark", schema=None) as mark:
        mark.alter_column("state", type_=sa.String(length=10), existing_nullable=False)
    for table in reversed(_TABLES):
        op.drop_column(table, "kind")
