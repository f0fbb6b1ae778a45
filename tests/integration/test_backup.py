"""Backup, wipe, restore: the same tickets and the same search results, on whichever engines."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, select

from services.contracts.retrieval import RetrieveRequest
from services.deployment.embedded import Embedded
from services.deployment.operations.archive import MANIFEST, UnusableBackupError
from services.deployment.operations.backup import TargetExistsError, back_up
from services.deployment.operations.restore import NotEmptyError, restore
from services.kit.access.keys import Keys
from services.kit.access.sessions.people import Person
from services.kit.access.sessions.sessions import SessionEndedError, Sessions
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.kit.tables import PersonRow
from services.knowledge.model import Case
from tests.contract.graphs import graph_server
from tests.postgres import postgres_url

EXAMPLES = Path(__file__).parents[2] / "examples"
CASE = Case(id="c-1", text="fan failed", team="net", at=1.0, entities={"fan": 1})


def say_nothing(_part: str) -> None:
    pass


def settings_of(folder, **more):
    return PlatformSettings(_env_file=None, data_dir=folder, **more)


def state(settings):
    """All that people see: tickets, search results, readings, past tickets."""
    with Embedded(settings) as platform:
        request = RetrieveRequest(title="Fan tray failed", description="the fan stands still")
        retrieved = platform.retrieval.retrieve(request)
        client = TestClient(platform.app, base_url="http://127.0.0.1")
        tickets = client.get("/v1/tickets").json()
        return {
            "tickets": tickets,
            "documents": platform.documents.hashes(),
            "chunks": [(each.chunk.id, round(each.score, 4)) for each in retrieved.chunks],
            "nodes": [each.node.id for each in retrieved.nodes],
            "readings": client.get("/v1/readings").json(),
            "cases": platform.graph.cases(10),
            "counts": (platform.vectors.count("chunks"), platform.graph.count()),
        }


def fill(settings):
    with Embedded(settings) as platform:
        platform.ingestion.ingest_here(EXAMPLES / "documents" / "wiki")
        platform.graph.put_cases([CASE])
        client = TestClient(platform.app, base_url="http://127.0.0.1")
        body = json.loads((EXAMPLES / "alerts" / "alertmanager" / "fan-tray.json").read_text())
        assert client.post("/workflow", json=body).status_code == 202
    uploads = settings.data_dir / "uploads" / "one"
    uploads.mkdir(parents=True)
    (uploads / "page.md").write_text("# Page\n")


def wipe_database(url):
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    engine.dispose()


def test_a_wiped_platform_comes_back_and_a_full_one_is_not_written_over(tmp_path):
    settings, file = settings_of(tmp_path / "data"), tmp_path / "backup.zip"
    fill(settings)
    before = state(settings)
    manifest = back_up(settings, file, say_nothing)
    assert manifest.documents == 3
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(TargetExistsError):
        back_up(settings, file, say_nothing)
    with pytest.raises(NotEmptyError):
        restore(settings, file, say_nothing, replace=False)
    shutil.rmtree(settings.data_dir)
    restore(settings, file, say_nothing, replace=False)
    assert state(settings) == before
    assert before["tickets"]
    assert before["chunks"]
    assert (settings.data_dir / "uploads" / "one" / "page.md").read_text() == "# Page\n"
    restore(settings, file, say_nothing, replace=True)
    assert state(settings) == before


def test_people_come_back_and_sessions_that_may_have_ended_since_do_not(tmp_path):
    settings, file = settings_of(tmp_path / "data"), tmp_path / "backup.zip"
    with Embedded(settings):
        database = Database(settings.resolved_database_url)
        sessions = Sessions(database, Keys(database), issuer="https://login.example.org")
        person = Person("https://login.example.org", "u-1", "ann", frozenset())
        id_ = sessions.begin(person)
        assert sessions.caller(id_).name == "ann"
        database.close()
    back_up(settings, file, say_nothing)
    restore(settings, file, say_nothing, replace=True)
    database = Database(settings.resolved_database_url)
    sessions = Sessions(database, Keys(database), issuer="https://login.example.org")
    with pytest.raises(SessionEndedError):
        sessions.caller(id_)
    with database.session() as session:
        assert [row.name for row in session.scalars(select(PersonRow))] == ["ann"]
    database.close()


def test_a_broken_backup_changes_nothing(tmp_path):
    settings, file = settings_of(tmp_path / "data"), tmp_path / "backup.zip"
    with Embedded(settings):
        pass
    back_up(settings, file, say_nothing)
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(broken, "w") as target:
        for name in source.namelist():
            added = b"{}\n" if name == "tables/outbox.jsonl" else b""
            target.writestr(name, source.read(name) + added)
    other = settings_of(tmp_path / "other")
    for path in (broken, tmp_path / "absent.zip", Path(__file__)):
        with pytest.raises(UnusableBackupError):
            restore(other, path, say_nothing, replace=True)
    assert not other.data_dir.exists()


@pytest.mark.parametrize(
    ("revision", "reason"),
    [("0001", "restore it with release v0.1.0-alpha.1"), ("9999", "a newer")],
)
def test_a_backup_of_another_age_changes_nothing(tmp_path, revision, reason):
    settings, file = settings_of(tmp_path / "data"), tmp_path / "backup.zip"
    with Embedded(settings):
        pass
    back_up(settings, file, say_nothing)
    aged = tmp_path / "aged.zip"
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(aged, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == MANIFEST:
                manifest = json.loads(content)
                manifest["revisions"]["kit"] = revision
                content = json.dumps(manifest).encode()
            target.writestr(name, content)
    other = settings_of(tmp_path / "other")
    with pytest.raises(UnusableBackupError, match=reason):
        restore(other, aged, say_nothing, replace=True)
    assert not other.data_dir.exists()


def test_postgres_and_a_graph_server_are_backed_up_and_restored_and_sqlite_takes_it_too(tmp_path):
    url = postgres_url()
    wipe_database(url)
    folder = tmp_path / "graph"
    folder.mkdir()
    with graph_server(folder) as server:
        server.empty()
        settings = settings_of(
            tmp_path / "data",
            database_url=url,
            neo4j_url=server.url,
            neo4j_user=server.user,
            neo4j_password=server.password,
        )
        file = tmp_path / "backup.zip"
        fill(settings)
        before = state(settings)
        back_up(settings, file, say_nothing)
        wipe_database(url)
        server.empty()
        shutil.rmtree(settings.data_dir)
        restore(settings, file, say_nothing, replace=False)
        assert state(settings) == before
        assert before["cases"] == [CASE]
    embedded = settings_of(tmp_path / "embedded")
    restore(embedded, file, say_nothing, replace=False)
    assert state(embedded) == before
    wipe_database(url)
