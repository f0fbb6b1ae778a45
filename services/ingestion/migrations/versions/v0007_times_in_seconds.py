"""Times in seconds since the epoch, as in all other tables."""

from collections.abc import Sequence

from services.kit.migrations.times import dates_to_seconds, seconds_to_dates

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TIMES = {
    "ingestion_job": ("created_at", "updated_at"),
    "ingestion_sync_source": ("next_at",),
    "ingestion_sync": ("began_at", "ended_at"),
    "ingestion_document": ("updated_at",),
    "ingestion_unbuilt": ("updated_at",),
    "ingestion_unread": ("updated_at",),
    "ingestion_built": ("updated_at",),
}


def upgrade() -> None:
    """To this revision."""
    for table, columns in _TIMES.items():
        dates_to_seconds(table, *columns)


def downgrade() -> None:
    """Back to the revision before."""
    for table, columns in _TIMES.items():
        seconds_to_dates(table, *columns)
