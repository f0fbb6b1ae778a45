"""Proposed pages that were composed without a model have a reader of their own."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_RULES, _COMPOSED = "rules", "composed"

_PROPOSAL = sa.table(
    "ingestion_proposal", sa.column("id", sa.String), sa.column("reading", sa.JSON)
)


def upgrade() -> None:
    """To this revision."""
    _rename(_RULES, _COMPOSED)


def downgrade() -> None:
    """Back to the revision before."""
    _rename(_COMPOSED, _RULES)


def _rename(old: str, new: str) -> None:
    connection = op.get_bind()
    rows = connection.execute(sa.select(_PROPOSAL.c.id, _PROPOSAL.c.reading)).all()
    for id_, reading in rows:
        if reading.get("reader") == old:
            renamed = {**reading, "reader": new}
            connection.execute(
                _PROPOSAL.update().where(_PROPOSAL.c.id == id_).values(reading=renamed)
            )
