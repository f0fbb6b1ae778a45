"""Times that were dates come through the migrations to the microsecond, on both engines."""

import json
from datetime import UTC, datetime

import pytest
from alembic import command
from sqlalchemy import JSON, Boolean, DateTime, Float, Integer, MetaData, inspect, select

from services.ingestion.tables import SyncRow
from services.kit.migrations import _config, room_tables, upgrade
from services.kit.sql.database import Database
from services.kit.sql.instant import Instant
from services.operations.sql_dump import lines_of, load
from tests.postgres import postgres_url

LAST_WITH_DATES = {"ingestion": "0006", "procedure": "0003"}
LATER = {"ingestion_surveyed", "ingestion_mention", "procedure_box"}
"""Tables that came after these revisions, with times from their beginning."""
TIMES = [
    datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(2026, 1, 2, 3, 4, 5, 1, tzinfo=UTC),
    datetime(2026, 11, 23, 4, 5, 6, 123457, tzinfo=UTC),
    datetime(2026, 11, 23, 4, 5, 6, 999999, tzinfo=UTC),
    datetime(2199, 2, 28, 12, 0, 0, 500000, tzinfo=UTC),
]


def empty(kind, room):
    """A database with the tables of the last revision that kept dates."""
    database = Database.memory() if kind == "sqlite" else Database(postgres_url())
    if kind == "postgresql":
        with database.engine.begin() as connection:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    upgrade(database, room, LAST_WITH_DATES[room])
    return database


def old_tables(database):
    metadata = MetaData()
    metadata.reflect(database.engine)
    return [each for each in metadata.sorted_tables if not each.name.startswith("alembic")]


def value_of(column, at):
    """Keys and references of the row at this place are the same text in all tables."""
    if isinstance(column.type, DateTime):
        return None if column.nullable and at == 0 else TIMES[at]
    if isinstance(column.type, JSON):
        return []
    if isinstance(column.type, Boolean):
        return False
    return at if isinstance(column.type, Integer | Float) else f"x{at}"


def fill(database):
    with database.engine.begin() as connection:
        for table in old_tables(database):
            rows = [
                {column.name: value_of(column, at) for column in table.columns}
                for at in range(len(TIMES))
            ]
            connection.execute(table.insert(), rows)


def check(database, room):
    """All tables of that time hold all rows, with the times that were written."""
    checked = 0
    for table in room_tables(room):
        if table.name in LATER:
            continue
        columns = [each for each in table.columns if isinstance(each.type, Instant)]
        for column in columns:
            with database.engine.connect() as connection:
                found = connection.scalars(select(column).order_by(column)).all()
            expected = [None, *TIMES[1:]] if column.nullable else TIMES
            assert sorted(found, key=str) == sorted(expected, key=str), column
            assert [each for each in found if each] == [each for each in expected if each]
            checked += 1
    assert checked == {"ingestion": 9, "procedure": 6}[room]


@pytest.mark.parametrize("room", LAST_WITH_DATES)
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_times_are_what_they_were_after_the_upgrade_and_after_the_way_back(kind, room):
    database = empty(kind, room)
    fill(database)
    before = [list(map(bytes, dumped(database, table))) for table in old_tables(database)]
    indexes = {t.name: inspect(database.engine).get_indexes(t.name) for t in old_tables(database)}
    upgrade(database, room)
    check(database, room)
    new = inspect(database.engine)
    assert {name: new.get_indexes(name) for name in indexes} == indexes
    with database.engine.begin() as connection:
        if kind == "sqlite":
            connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        command.downgrade(_config(room, connection), LAST_WITH_DATES[room])
    assert [list(map(bytes, dumped(database, table))) for table in old_tables(database)] == before
    database.close()


def dumped(database, table):
    """Rows as a backup holds them, in one zone."""
    with database.engine.connect() as connection:
        for line in lines_of(connection, table):
            yield json.dumps(
                {name: utc(value) for name, value in json.loads(line).items()}
            ).encode()


def utc(value):
    try:
        return datetime.fromisoformat(value).astimezone(UTC).isoformat()
    except (TypeError, ValueError):
        return value


@pytest.mark.parametrize("room", LAST_WITH_DATES)
@pytest.mark.parametrize("kinds", [("sqlite", "postgresql"), ("postgresql", "sqlite")])
def test_a_backup_made_before_is_restored_into_the_other_engine(kinds, room):
    source, target = (empty(kind, room) for kind in kinds)
    fill(source)
    with source.engine.connect() as old, target.engine.begin() as new:
        for before, after in zip(old_tables(source), old_tables(target), strict=True):
            assert load(new, after, lines_of(old, before)) == len(TIMES)
    upgrade(target, room)
    check(target, room)
    source.close()
    target.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_times_are_compared_in_the_database(kind):
    database = empty(kind, "ingestion")
    fill(database)
    upgrade(database, "ingestion")
    with database.session() as session:
        earlier = select(SyncRow.began_at).where(SyncRow.began_at <= TIMES[2])
        found = session.scalars(earlier.order_by(SyncRow.began_at.desc())).all()
    assert found == TIMES[2::-1]
    database.close()


def test_a_time_without_its_zone_is_refused():
    with pytest.raises(ValueError, match="with its zone"):
        Instant().process_bind_param(TIMES[0].replace(tzinfo=None), None)
