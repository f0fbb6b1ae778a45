"""Times are kept to the microsecond and compared in the database, on both engines."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from services.ingestion.tables import UnreadRow
from services.kit.sql.database import Instant
from tests.contract.databases import database_of

TIMES = [
    datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(2026, 1, 2, 3, 4, 5, 1, tzinfo=UTC),
    datetime(2026, 11, 23, 4, 5, 6, 123457, tzinfo=UTC),
    datetime(2026, 11, 23, 4, 5, 6, 999999, tzinfo=UTC),
    datetime(2199, 2, 28, 12, 0, 0, 500000, tzinfo=UTC),
]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_times_come_back_to_the_microsecond_and_are_compared_in_the_database(kind):
    recipe = "of these times"
    mine = select(UnreadRow.updated_at).where(UnreadRow.recipe == recipe)
    with database_of(kind) as database, database.session() as session:
        for place, at in enumerate(TIMES):
            row = UnreadRow(text_hash=str(place), recipe=recipe, reason="", updated_at=at)
            session.merge(row)
        session.flush()
        session.expire_all()
        assert list(session.scalars(mine.order_by(UnreadRow.updated_at))) == TIMES
        earlier = mine.where(UnreadRow.updated_at <= TIMES[2])
        latest_first = session.scalars(earlier.order_by(UnreadRow.updated_at.desc()))
        assert list(latest_first) == TIMES[2::-1]


def test_a_time_without_its_zone_is_refused():
    with pytest.raises(ValueError, match="with its zone"):
        Instant().process_bind_param(TIMES[0].replace(tzinfo=None), None)
