"""What rules read of pages is gone, what people approved of it is theirs.

Those that people answered or corrected stay, and are served no more: what was said of them is put
to the boxes of their pages once these can be parsed (`ingestion.readings.retirement`).
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_RULES, _COMPOSED, _PERSON = "rules", "composed", "person"

_READING = sa.table(
    "procedure_reading",
    sa.column("text_hash", sa.String),
    sa.column("reader", sa.String),
    sa.column("version", sa.String),
    sa.column("reading", sa.JSON),
)
_HISTORY = sa.table(
    "procedure_history",
    sa.column("text_hash", sa.String),
    sa.column("what", sa.String),
)
_SAID = ("answered", "replaced", "doubted")
"""What people did to a reading, by the words of the history."""
_TEXT = sa.table(
    "procedure_text",
    sa.column("text_hash", sa.String),
    sa.column("reader", sa.String),
    sa.column("procedures", sa.Integer),
    sa.column("approved", sa.Integer),
    sa.column("doubts", sa.Integer),
    sa.column("prepared", sa.String),
)


def upgrade() -> None:
    """To this revision: texts that rules alone have read are texts that nobody has read."""
    connection = op.get_bind()
    _name_compositions(connection)
    said_of = sa.select(_HISTORY.c.text_hash).where(_HISTORY.c.what.in_(_SAID))
    is_by_rules = _READING.c.reader == _RULES
    connection.execute(_READING.delete().where(is_by_rules, _READING.c.text_hash.not_in(said_of)))
    own = sa.select(_READING.c.text_hash).where(
        _READING.c.text_hash == _TEXT.c.text_hash, ~is_by_rules
    )
    left = (_TEXT.c.reader == _RULES) & ~sa.exists(own)
    approved = _TEXT.update().where(left & (_TEXT.c.approved > 0))
    connection.execute(
        approved.values(reader=_PERSON, procedures=_TEXT.c.approved, doubts=0, prepared=None)
    )
    nobody: dict[str, Any] = {"reader": "", "procedures": 0, "doubts": 0, "prepared": None}
    connection.execute(_TEXT.update().where(left & (_TEXT.c.approved == 0)).values(**nobody))


def downgrade() -> None:
    """Back to the revision before, which reads by rules again whatever nobody has read."""


def _name_compositions(connection: sa.Connection) -> None:
    """Those made without a model were kept as readings of rules of the version `rules`."""
    composed = (_READING.c.reader == _RULES) & (_READING.c.version == _RULES)
    rows = connection.execute(sa.select(_READING.c.text_hash, _READING.c.reading).where(composed))
    for text_hash, reading in rows.all():
        of_it = _READING.c.text_hash == text_hash
        renamed = {**reading, "reader": _COMPOSED, "version": ""}
        values = {"reader": _COMPOSED, "version": "", "reading": renamed}
        connection.execute(_READING.update().where(of_it & composed).values(**values))
        connection.execute(
            _TEXT.update()
            .where(_TEXT.c.text_hash == text_hash, _TEXT.c.reader == _RULES)
            .values(reader=_COMPOSED)
        )
