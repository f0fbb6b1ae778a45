"""The migrated schema is the one the models state, room by room."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

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
from services.runbook.ports import ApprovalKind
from services.runbook.store.sql_readings import SqlReadingStore
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


def test_an_approval_from_before_kinds_is_a_checklist_where_it_began_from_boxes(database):
    database.migrate("procedure")
    texts = {"a": True, "b": False}
    with database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE procedure_approval DROP COLUMN kind")
        connection.exec_driver_sql("ALTER TABLE procedure_text DROP COLUMN checklists")
        connection.exec_driver_sql("DROP TABLE procedure_answered_question")
        connection.exec_driver_sql("UPDATE alembic_procedure SET version_num = '0008'")
        for name, is_begun in texts.items():
            text_hash, procedure = name * 64, {"title": "Fan", "steps": [{"do": "Seat it"}]}
            procedure |= {"begun_from_boxes": True} if is_begun else {}
            approved = {
                "procedure": procedure,
                "approval": {"by": "ann", "at": "2026-01-01T00:00Z"},
            }
            before = {
                "person": None,
                "imported": None,
                "approved": [approved],
                "was_approved": False,
            }
            row = {"text_hash": text_hash, "at": 0, "who": "ann"}
            event = {"what": "replaced", "detail": "", "undone": False}
            numbers = {"procedures": 1, "approved": 1, "doubts": 0, "was_approved": False}
            for table, values in (
                ("text", {"text_hash": text_hash, "reader": "person", "updated_at": 0, **numbers}),
                ("approval", {**row, "procedure": json.dumps(procedure)}),
                ("history", {**row, **event, "before": json.dumps(before)}),
            ):
                marks = ", ".join(f":{name}" for name in values)
                into = f"INSERT INTO procedure_{table} ({', '.join(values)}) VALUES ({marks})"
                connection.execute(text(into), values)
    database.migrate("kit", "procedure")
    store = SqlReadingStore(database)
    checklist, workflow = ApprovalKind.CHECKLIST, ApprovalKind.WORKFLOW
    for name, kind in (("a", checklist), ("b", workflow)):
        text_hash = name * 64
        assert store.served(text_hash).kind(0) is kind
        assert store.summaries([text_hash])[text_hash].checklists == (kind is checklist)
        store.undo(text_hash, who="ann")
        assert store.served(text_hash).kind(0) is kind
