"""What a killed command leaves is found and said by the next one on its data folder, and gone."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from services.deployment.operations import restore as restoring
from services.deployment.operations.backup import back_up
from services.deployment.operations.restore import restore
from services.kit.files import scratch_beside, write_text
from services.kit.migrations import UnfinishedRestoreError
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from tests.command import flowxpert
from tests.waiting import eventually

EXAMPLES = Path(__file__).parents[2] / "examples"


def jobs(home: Path) -> list[tuple[str, int]]:
    try:
        with closing(sqlite3.connect(home / "flowxpert.db")) as database:
            return database.execute("SELECT status, total FROM ingestion_job").fetchall()
    except sqlite3.OperationalError:  # it is being made
        return []


def test_a_killed_ingest_is_said_ended_and_goes_on(tmp_path: Path) -> None:
    home, documents = tmp_path / "home", EXAMPLES / "documents"
    ingest = ("ingest", "--data-dir", str(home), str(documents))
    with subprocess.Popen(
        [sys.executable, "-m", "services.cli", *ingest],
        env=os.environ | {"OMP_NUM_THREADS": "1", "FLOWXPERT_INGESTION_WINDOW_CHUNKS": "4"},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    ) as command:
        eventually(lambda: any(total for _status, total in jobs(home)))
        command.send_signal(signal.SIGKILL)
    assert [status for status, _total in jobs(home)] == ["running"]
    (home / "vectors.new").mkdir()  # as a killed `reindex` leaves it

    first = flowxpert("roots", "--data-dir", str(home))
    assert "kit.process_was_killed" in first.stderr
    assert "`flowxpert ingest`" in first.stderr
    assert "ingestion.jobs_were_killed" in first.stderr
    assert "knowledge.broken_off_rebuild_removed" in first.stderr
    assert [status for status, _total in jobs(home)] == ["failed"]
    assert not (home / "vectors.new").exists()

    again = flowxpert(*ingest)
    assert again.returncode == 0
    assert "killed" not in again.stderr
    assert sorted(status for status, _total in jobs(home)) == ["done", "failed"]


def test_a_broken_off_file_is_removed_by_the_next_one(tmp_path: Path) -> None:
    left = tmp_path / ".backup.zip.abc.part"
    left.mkdir()
    (left / "backup.zip").write_bytes(b"half")
    with scratch_beside(tmp_path / "other") as in_work:
        assert not left.exists()
        write_text(tmp_path / "figures.json", "{}\n")
        assert in_work.exists()
    assert [each.name for each in tmp_path.iterdir()] == ["figures.json"]


def test_a_database_that_a_killed_restore_left_is_refused_until_it_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = PlatformSettings(_env_file=None, data_dir=tmp_path / "home")
    flowxpert("migrate", "--data-dir", str(settings.data_dir))
    back_up(settings, tmp_path / "backup.zip", lambda _part: None)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    def bring_back() -> None:
        restore(settings, tmp_path / "backup.zip", lambda _part: None, replace=True)

    with monkeypatch.context() as patched:
        patched.setattr(restoring, "load", killed)
        with pytest.raises(KeyboardInterrupt):
            bring_back()
    database = Database(settings.resolved_database_url)
    with pytest.raises(UnfinishedRestoreError, match="--replace"):
        database.migrate("gateway")
    database.close()
    with pytest.raises(UnfinishedRestoreError):
        back_up(settings, tmp_path / "another.zip", lambda _part: None)
    bring_back()
    assert flowxpert("roots", "--data-dir", str(settings.data_dir)).returncode == 0
