"""Times in seconds since the epoch, as in all other tables."""

from collections.abc import Sequence

from services.kit.migrations.times import dates_to_seconds, seconds_to_dates

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TIMES = {
    "procedure_text": "updated_at",
    "procedure_reading": "updated_at",
    "procedure_approval": "at",
    "procedure_history": "at",
    "procedure_ticket_doubt": "at",
    "procedure_answer": "updated_at",
}


def upgrade() -> None:
    """To this revision."""
    for table, column in _TIMES.items():
        dates_to_seconds(table, column)


def downgrade() -> None:
    """Back to the revision before."""
    for table, column in _TIMES.items():
        seconds_to_dates(table, column)
