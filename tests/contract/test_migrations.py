"""The migrated schema is the one the models state, room by room."""

import os
import shutil
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

from services.kit.migrations import (
    PACKAGES,
    ROOMS,
    SERVICES,
    OutdatedRevisionError,
    UnknownRevisionError,
    revisions_of,
    room_tables,
)
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
    packages = {path.parent.parent.name for path in SERVICES.glob("*/migrations/versions")}
    assert packages == set(PACKAGES.values())
    assert ROOMS == ("executor", "gateway", "ingestion", "kit", "knowledge", "procedure")


@pytest.mark.parametrize(
    ("revision", "refusal"), [("0001", OutdatedRevisionError), ("9999", UnknownRevisionError)]
)
def test_one_room_of_another_age_is_refused_before_any_is_migrated(database, revision, refusal):
    with database.engine.begin() as connection:
        if not database.is_sqlite:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    database.migrate("procedure")
    with database.engine.begin() as connection:
        migrated = revisions_of(connection)["procedure"]
        connection.exec_driver_sql(f"UPDATE alembic_procedure SET version_num = '{revision}'")
    with pytest.raises(refusal, match=f"procedure are of revision {revision}"):
        database.migrate("kit", "procedure")
    with database.engine.begin() as connection:
        assert revisions_of(connection) == {"procedure": revision}
        assert not inspect(connection).has_table("outbox")
        connection.exec_driver_sql(f"UPDATE alembic_procedure SET version_num = '{migrated}'")


def test_a_new_revision_counts_on_from_the_highest(tmp_path):
    shutil.copytree(SERVICES, tmp_path / "services", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "services.kit.migrations", "gateway", "Another column"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    versions = tmp_path / "services" / "tickets" / "migrations" / "versions"
    newest = max(path.stem for path in versions.glob("v*.py"))
    before = max(path.stem for path in (SERVICES / "tickets/migrations/versions").glob("v*.py"))
    assert newest.startswith(f"v{int(before[1:5]) + 1:04d}_another_column")
    text = (versions / f"{newest}.py").read_text(encoding="utf-8")
    assert f"down_revision: str | None = '{before[1:5]}'" in text
