"""Steps whose condition does not hold: the name of that state is longer than those before."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0024"
down_revision: str | None = "0023"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_SHORT, _LONG = sa.String(length=10), sa.String(length=20)


def upgrade() -> None:
    """To this revision."""
    with op.batch_alter_table("gateway_mark", schema=None) as batch_op:
        batch_op.alter_column("state", existing_type=_SHORT, type_=_LONG, existing_nullable=False)


def downgrade() -> None:
    """Back to the revision before; steps that do not apply are open again."""
    op.execute("UPDATE gateway_mark SET state = 'open' WHERE state = 'not_applicable'")
    with op.batch_alter_table("gateway_mark", schema=None) as batch_op:
        batch_op.alter_column("state", existing_type=_LONG, type_=_SHORT, existing_nullable=False)
