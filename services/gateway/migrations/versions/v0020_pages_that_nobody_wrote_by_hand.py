"""How the page of a workflow came about, where it was learned or composed."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0020"
down_revision: str | None = "0019"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TABLES = ("gateway_ticket", "gateway_workflow")


def upgrade() -> None:
    """To this revision; workflows that were made before follow pages that people wrote."""
    for table in _TABLES:
        column = sa.Column("page_origin", sa.String(length=100), nullable=False, server_default="")
        op.add_column(table, column)


def downgrade() -> None:
    """Back to the revision before."""
    for table in reversed(_TABLES):
        op.drop_column(table, "page_origin")
