"""Times in SQL: seconds since the epoch, the same number on every engine."""

from datetime import UTC, datetime

from sqlalchemy import Dialect, Float
from sqlalchemy.types import TypeDecorator


class Instant(TypeDecorator[datetime]):
    """A time as seconds since the epoch, read back in UTC.

    A double holds microseconds exactly until the year 2242.
    """

    impl = Float
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> float | None:
        """Convert to seconds; a time without its zone is refused as ambiguous."""
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"expected a time with its zone, got {value!r}")
        return value.timestamp()

    def process_result_value(self, value: float | None, dialect: Dialect) -> datetime | None:
        """Convert to a time in UTC, to the microsecond."""
        del dialect
        return None if value is None else datetime.fromtimestamp(value, UTC)
