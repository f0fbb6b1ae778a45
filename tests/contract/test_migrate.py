"""Several processes may bring one database to the newest revision at the same moment."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import inspect
from typer.testing import CliRunner

from services.cli import app
from services.kit.migrations import ROOMS, room_tables
from services.kit.sql.database import Database
from tests.postgres import postgres_url

pytestmark = pytest.mark.usefixtures("really_migrated")

AT_ONCE = 4


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_those_that_start_at_once_migrate_one_after_the_other(kind, tmp_path):
    url = f"sqlite:///{tmp_path / 'new.db'}" if kind == "sqlite" else postgres_url()
    databases = [Database(url) for _ in range(AT_ONCE)]
    if kind == "postgresql":
        with databases[0].engine.begin() as connection:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with ThreadPoolExecutor(AT_ONCE) as starting:
        for done in [starting.submit(each.migrate, *ROOMS) for each in databases]:
            done.result()
    made = set(inspect(databases[0].engine).get_table_names())
    assert made >= {table.name for room in ROOMS for table in room_tables(room)}
    for database in databases:
        database.close()


def test_the_command_migrates_and_a_second_time_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        done = CliRunner().invoke(app, ["migrate", "--data-dir", str(tmp_path / "data")])
        assert done.exit_code == 0, done.output
        assert all(room in done.output for room in ROOMS)
    database = Database(f"sqlite:///{tmp_path / 'data' / 'flowxpert.db'}")
    assert {table.name for table in room_tables("gateway")} <= set(
        inspect(database.engine).get_table_names()
    )
    database.close()
