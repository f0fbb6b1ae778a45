"""Verdicts on workflows of which a person has checked the boxes alone."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0027"
down_revision: str | None = "0026"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_COLUMN = "has_checked_boxes"


def upgrade() -> None:
    """To this revision: of what was checked, the boxes were."""
    for name in ("gateway_ticket", "gateway_workflow"):
        op.add_column(
            name, sa.Column(_COLUMN, sa.Boolean(), server_default=sa.false(), nullable=False)
        )
        columns = (sa.column("is_checked", sa.Boolean), sa.column(_COLUMN, sa.Boolean))
        table = sa.table(name, *columns)
        op.execute(sa.update(table).where(table.c.is_checked).values({_COLUMN: True}))
