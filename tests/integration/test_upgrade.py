"""Tables of another age are refused untouched; the release between the two opens old ones."""

import hashlib
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from services.deployment.embedded import Embedded
from services.kit.data_dir import LOCK_FILE
from services.kit.migrations import UnknownRevisionError, revisions_of
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
OLDER = ROOT / "tests" / "fixtures" / "upgrade" / "older.sqlite.tar.xz"
RELEASE_COMMIT = "e09fd7cf"
"""What v0.1.0-alpha.1 was made of."""
SENTENCE = (
    "the tables of executor are of revision 0003, and this release begins with 0004: start this "
    "platform once with release v0.1.0-alpha.1, then with this one\n"
)


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A data folder of a release before."""
    folder = tmp_path / "data"
    with tarfile.open(OLDER) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The code of v0.1.0-alpha.1."""
    command = ["git", "-C", str(ROOT), "archive", RELEASE_COMMIT]
    packages = ["services", "evaluation", "training"]
    archived = subprocess.run([*command, *packages], capture_output=True, check=False)
    if archived.returncode:
        pytest.skip(f"commit {RELEASE_COMMIT} of v0.1.0-alpha.1 is not in this clone")
    folder = tmp_path / "release"
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def files_of(folder: Path) -> dict[str, str]:
    """Each file but the lock by the hash of its content."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name != LOCK_FILE
    }


def environment(code: Path, data: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(code),
        "FLOWXPERT_DATA_DIR": str(data),
        "FLOWXPERT_EXECUTOR_CATALOGUE": str(data / "catalogue"),
    }


@pytest.mark.parametrize(
    "command", [["up", "--port", "0"], ["migrate"], ["readings", "list"]], ids=" ".join
)
def test_a_folder_of_an_older_release_is_refused_untouched(older: Path, command: list[str]) -> None:
    before = files_of(older)
    ended = subprocess.run(
        [sys.executable, "-m", "services.cli", *command],
        env=environment(ROOT, older),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", SENTENCE)
    assert files_of(older) == before


def test_tables_of_newer_code_are_refused_not_changed(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'newer.db'}")
    database.migrate("kit")
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_kit SET version_num = '9999'")
    with pytest.raises(UnknownRevisionError, match="9999"):
        database.migrate("kit")
    with database.engine.connect() as connection:
        assert revisions_of(connection) == {"kit": "9999"}
    database.close()


@contextmanager
def started(code: Path, data: Path) -> Iterator[None]:
    """`flowxpert up` of this code, until Ctrl-C."""
    command = [sys.executable, "-m", "services.cli", "up", "--port", "0"]
    process = subprocess.Popen(command, cwd=code, env=environment(code, data))
    try:
        yield
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in {0, 130}
    finally:
        process.kill()
        process.wait()


def waiting(data: Path) -> int:
    """Readings by rules that the release puts to boxes at its start."""
    rows = "SELECT count(*) FROM procedure_reading WHERE reader = 'rules'"
    with closing(sqlite3.connect(data / "flowxpert.db")) as connection:
        return int(connection.execute(rows).fetchone()[0])


def is_migrated(data: Path) -> bool:
    with closing(sqlite3.connect(data / "flowxpert.db")) as connection:
        versions = connection.execute("SELECT version_num FROM alembic_procedure").fetchall()
    return versions == [("0008",)]


@pytest.mark.usefixtures("really_migrated")
def test_a_folder_of_an_older_release_opens_after_v0_1_0_alpha_1(
    older: Path, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(release, older):
        eventually(lambda: is_migrated(older) and not waiting(older))
    expected = json.loads((older / "expected.json").read_text(encoding="utf-8"))
    monkeypatch.setenv("FLOWXPERT_EXECUTOR_CATALOGUE", str(older / "catalogue"))
    settings = PlatformSettings(_env_file=None, data_dir=older)
    with Embedded(settings) as platform:
        client = TestClient(platform.app, base_url="http://127.0.0.1")

        def get(path: str, **query: str) -> Any:
            answer = client.get(path, params=query)
            assert answer.status_code == 200, f"{path}: {answer.text}"
            return answer.json()

        was = expected["readings"]["wiki/fan-failure.md"]
        now = get(f"/v1/readings/{was['text_hash']}")
        assert now["state"] == "approved"
        assert now["reading"]["procedures"] == was["reading"]["procedures"]
        for name, ticked in expected["ticked"].items():
            workflow = get(f"/v1/tickets/{expected['tickets'][name]}")["workflow_id"]
            work = get(f"/v1/workflows/{workflow}/work")
            done = {each["step"] for each in work["steps"] if each["state"] == "done"}
            assert done == {step["id"] for step in ticked}
        bound = get("/v1/bindings", ticket_id=expected["tickets"]["bgp"])
        approved = {each["step"] for each in bound if each["approved_by"] == "local"}
        assert approved == {each["step"] for each in expected["bound"]}
