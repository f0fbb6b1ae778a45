"""The migrated schema is the one the models state, room by room."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

from services.kit.migrations import ROOMS, SERVICES, room_tables
from services.kit.sql.database import Base, Database
from tests.postgres import postgres_url

pytestmark = pytest.mark.usefixtures("really_migrated")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    is_sqlite = request.param == "sqlite"
    database = Database.memory() if is_sqlite else Database(postgres_url())
    yield database
    database.close()


@pytest.mark.parametrize("room", ROOMS)
def test_the_migrations_of_a_room_make_its_tables(room, database):
    own = {table.name for table in room_tables(room)}
    assert own, f"services/{room}/tables.py defines no table"
    database.migrate(room)
    with database.engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "include_name": lambda name, kind, _parents: kind != "table" or name in own,
                "include_object": lambda item, *_rest: getattr(item, "table", item).name in own,
            },
        )
        assert compare_metadata(context, Base.metadata) == []


def test_no_room_migrates_the_tables_of_another():
    for room in ROOMS:
        database = Database.memory()
        database.migrate(room)
        made = set(inspect(database.engine).get_table_names()) - {f"alembic_{room}"}
        assert made == {table.name for table in room_tables(room)}
        database.close()


def test_every_room_with_tables_is_migrated():
    assert {path.parent.name for path in SERVICES.glob("*/tables.py")} == set(ROOMS)
