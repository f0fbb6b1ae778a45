"""How many conditions of a workflow are doubtful, and which page a model chose for a ticket."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_COUNTS = ("conditions", "doubtful")
_CHOICES = "gateway_page_choice"
_LATEST = "ix_gateway_page_choice_chosen_at"


def upgrade() -> None:
    """To this revision; workflows that were made before have no condition that was judged."""
    for table in ("gateway_ticket", "gateway_workflow"):
        for name in _COUNTS:
            column = sa.Column(name, sa.Integer(), nullable=False, server_default="0")
            op.add_column(table, column)
    better_page = sa.Column("better_page", sa.Text(), nullable=False, server_default="")
    op.add_column("gateway_ticket", better_page)
    op.create_table(
        _CHOICES,
        sa.Column("key", sa.String(length=64), primary_key=True),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("page", sa.Text(), nullable=False),
        sa.Column("stated", sa.Float(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("chosen_at", sa.Float(), nullable=False),
    )
    op.create_index(_LATEST, _CHOICES, ["model", "chosen_at"])


def downgrade() -> None:
    """Back to the revision before; choices are lost, and made anew where they are asked for."""
    op.drop_index(_LATEST, _CHOICES)
    op.drop_table(_CHOICES)
    op.drop_column("gateway_ticket", "better_page")
    for table in ("gateway_workflow", "gateway_ticket"):
        for name in reversed(_COUNTS):
            op.drop_column(table, name)
