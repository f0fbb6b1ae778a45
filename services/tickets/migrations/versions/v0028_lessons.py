"""Lessons of purged tickets: what they teach as numbers; and no title of one on another ticket."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0028"
down_revision: str | None = "0027"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TITLED = "like the resolved ticket "
"""Beginning of a reason that went on with the title of another ticket."""


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "gateway_lesson",
        sa.Column("source_id", sa.String(length=36), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("source_id"),
    )
    op.create_index("ix_gateway_lesson_at", "gateway_lesson", ["at"])
    columns = (
        sa.column("id", sa.Integer),
        sa.column("kind", sa.String),
        sa.column("facts", sa.JSON),
    )
    events = sa.table("gateway_event", *columns)
    has_title = sa.cast(events.c.facts, sa.Text).contains(_TITLED)
    retrieved = sa.select(events.c.id, events.c.facts).where(
        events.c.kind == "retrieved", has_title
    )
    for id_, facts in op.get_bind().execute(retrieved).all():
        reasons = [each for each in facts["reasons"] if not each.startswith(_TITLED)]
        untitled = sa.update(events).where(events.c.id == id_)
        op.execute(untitled.values(facts=facts | {"reasons": reasons}))
