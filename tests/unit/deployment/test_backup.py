"""Which files a backup holds, where they come back to, and what it refuses."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.deployment.operations.archive import UnusableBackupError
from services.deployment.operations.backup import (
    NothingToBackUpError,
    UnusableTargetError,
    _files,
    back_up,
)
from services.deployment.operations.restore import UploadPaths, _move_uploads
from services.ingestion.jobs.records import new_job
from services.ingestion.tables import IngestedRow, JobRow, OwnerRow
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database


def settings_of(folder):
    return PlatformSettings(_env_file=None, data_dir=folder)


def test_nothing_is_made_where_there_is_no_platform(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NothingToBackUpError, match="holds no platform"):
        back_up(settings_of(empty), tmp_path / "x.zip", print)
    (empty / "flowxpert.db").touch()
    with pytest.raises(NothingToBackUpError):
        back_up(settings_of(empty), tmp_path / "x.zip", print)
    (empty / "flowxpert.db").unlink()
    assert not list(empty.iterdir())
    assert [each.name for each in tmp_path.iterdir()] == ["empty"]


def test_a_folder_that_is_not_there_is_refused_in_words(tmp_path):
    with pytest.raises(UnusableTargetError, match="there is no folder"):
        back_up(settings_of(tmp_path), tmp_path / "nodir" / "x.zip", print)


def test_uploads_of_a_working_folder_elsewhere_are_in_a_backup(tmp_path):
    data, work = tmp_path / "data", tmp_path / "work"
    for page in (data / "uploads" / "1" / "uploads" / "a.md", work / "uploads" / "2" / "b.md"):
        page.parent.mkdir(parents=True)
        page.write_text("# Page\n")
    (work / "locks").mkdir()
    (work / "locks" / "one").touch()
    names = [name for name, _ in _files(data, work)]
    assert names == ["files/uploads/1/uploads/a.md", "work/uploads/2/b.md"]
    assert [name for name, _ in _files(data, None)] == names[:1]


def test_fitted_numbers_of_the_platform_are_in_a_backup_and_come_back_to_their_place(tmp_path):
    own = tmp_path / "data" / "fitted" / "chance.json"
    own.parent.mkdir(parents=True)
    own.write_text("{}")
    ((name, _),) = _files(tmp_path / "data", None)
    assert UploadPaths(tmp_path / "data", None).path_for(name) == own


def test_files_go_where_the_restoring_platform_keeps_uploads(tmp_path):
    data, work = tmp_path / "data", tmp_path / "work"
    whole, apart = UploadPaths(data, None), UploadPaths(data, work)
    assert whole.path_for("work/uploads/2/b.md") == data / "uploads/2/b.md"
    assert whole.path_for("files/ingestion/uploads/2/b.md") == data / "ingestion/uploads/2/b.md"
    assert apart.path_for("files/ingestion/uploads/2/b.md") == work / "uploads/2/b.md"
    beside = UploadPaths(data, None, from_elsewhere=True)
    assert beside.root_for("/work/ingestion/uploads") == data / "uploads"
    with pytest.raises(UnusableBackupError):
        whole.path_for("work/uploads/../../b.md")


@pytest.mark.parametrize(
    ("old", "work_dir", "new"),
    [
        ("/old/uploads", None, "uploads"),
        ("/old/ingestion/uploads", None, "ingestion/uploads"),
        ("/old/uploads", "work", "work/uploads"),
    ],
)
def test_what_was_uploaded_stays_an_upload_in_another_folder(tmp_path, old, work_dir, new):
    database = Database(f"sqlite:///{tmp_path / 'flowxpert.db'}")
    database.migrate("kit", "ingestion")
    job = new_job(Path(old) / "1", old, is_upload=True, is_queued=True, prune=False)
    with database.session() as session:
        session.add(job)
        session.add(document("page.md", old))
        session.add(document("wiki.md", "/old/wiki"))
        session.add(OwnerRow(root=old, prefix="", team="net"))
    _move_uploads(database, UploadPaths(tmp_path, tmp_path / work_dir if work_dir else None))
    root = str(tmp_path / new)
    with database.session() as session:
        (moved,) = session.query(JobRow).all()
        assert (moved.source, moved.path) == (root, f"{root}/1")
        sources = {row.document_id: row.source for row in session.query(IngestedRow)}
        assert sources == {"page.md": root, "wiki.md": "/old/wiki"}
        assert session.query(OwnerRow).one().root == root
    database.close()


def document(id_, source):
    return IngestedRow(
        document_id=id_,
        source=source,
        fingerprint="",
        content_hash="1",
        pipeline="",
        outcome="added",
        job_id="",
        title="",
        media_type="",
        chunk_ids=[],
        node_ids=[],
        updated_at=datetime.now(UTC),
    )
