"""Roots: what is known of them, and what is left of one that is forgotten."""

import shutil
import threading
from pathlib import Path

import pytest

from services.contracts.ingestion import ForgetRequest, JobStatus
from services.ingestion.catalogue.roots import RootNotFoundError
from services.ingestion.graph_build.build_pass import ChosenDocuments
from services.ingestion.jobs.lock import source_lock
from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.tables import BuiltRow, IngestedRow
from tests.unit.ingestion.scripted_graph import GraphModel, pipeline_of
from tests.unit.ingestion.stand import Killed, Stand, counters


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A second root, which shares a node with the first."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "o.md").write_text("LinkDown elsewhere\n")
    return folder


def fill(stand: Stand) -> None:
    for number in range(5):
        stand.write(f"{number}.md", f"LinkDown\n\nwords of {number}\n\nAlarm{number}Down\n")
    stand.ingest()


def known(stand: Stand) -> list[tuple[str, int, bool]]:
    return [(root.path, root.documents, root.is_there) for root in stand.service.roots()]


def test_roots_are_listed_with_what_is_known_of_them(stand, other, tmp_path):
    fill(stand)
    stand.ingest(other)
    gone = stand.root.rename(tmp_path / "elsewhere")
    stand.pipeline = Pipeline("2", stand.pipeline.split, stand.pipeline.extract)
    stand.ingest(other)
    first, second = stand.service.roots()
    assert (first.path, first.documents, first.outdated) == (str(stand.root), 5, 5)
    assert (second.path, second.documents, second.outdated) == (str(other), 1, 0)
    assert (gone.exists(), first.is_there, second.is_there) == (True, False, True)


def test_of_a_forgotten_root_nothing_is_left_and_of_the_others_everything(stand, other, tmp_path):
    stand.ingest(other)
    before = stand.contents()
    fill(stand)
    stand.root.rename(tmp_path / "elsewhere")
    assert counters(stand.forget()) == {"deleted": 5}
    assert stand.contents() == before
    assert known(stand) == [(str(other), 1, True)]
    assert (tmp_path / "elsewhere" / "0.md").exists()


def test_what_a_model_built_of_a_forgotten_root_is_forgotten_too(stand):
    stand.pipeline = pipeline_of(stand.embedder)
    stand.write("pumps.md", "# Pumps\n\nThe pump leaks at its shaft.\n")
    stand.ingest()
    model = GraphModel({"Pump leaks": {"failure_description": ["The pump leaks at its shaft."]}})
    assert stand.service.build_pass(model.guarded).run(ChosenDocuments()).built == 1
    stand.forget()
    with stand.database.session() as session:
        assert session.query(BuiltRow).count() == 0
    assert stand.vectors.count("nodes") == stand.graph.count() == 0


@pytest.mark.parametrize("then", ["forget", "ingest"])
def test_a_removal_killed_at_any_write_ends_by_the_next_or_is_undone_by_an_ingest(
    then, tmp_path_factory
):
    for after in range(1000):
        stand = Stand(tmp_path_factory.mktemp("killed"))
        fill(stand)
        before = stand.contents()
        stand.break_writing(after=after)
        try:
            stand.forget()
            break
        except Killed:
            assert known(stand) == [(str(stand.root), 5, True)]
        if then == "forget":
            assert counters(stand.forget()) == {"deleted": 5}
            assert stand.vectors.points == {"chunks": {}, "nodes": {}}
            assert (stand.contents()["graph"], stand.service.roots()) == (0, [])
        else:
            assert counters(stand.ingest()) == {"changed": 5}
            assert stand.contents() == before
    assert after > 5


def test_a_document_that_comes_back_after_a_killed_ingest_began_to_remove_it_is_whole(stand):
    fill(stand)
    before = stand.contents()
    text = (stand.root / "0.md").read_bytes()
    away = (stand.root / "0.md").rename(stand.root.parent / "0.md")
    stand.break_writing(after=1)
    with pytest.raises(Killed):
        stand.ingest()
    away.rename(stand.root / "0.md")
    assert (stand.root / "0.md").read_bytes() == text
    assert counters(stand.ingest()) == {"changed": 1, "unchanged": 4}
    assert stand.contents() == before


def test_a_queued_removal_that_was_killed_goes_on_and_counts_everything_once(stand):
    fill(stand)
    job = stand.service.forget(ForgetRequest(root=str(stand.root)))
    stand.break_writing(after=4)
    with pytest.raises(Killed):
        stand.forget_queued(job.id)
    assert stand.service.job(job.id).status is JobStatus.RUNNING
    stand.forget_queued(job.id)
    assert counters(stand.service.job(job.id)) == {"deleted": 5}
    fill(stand)
    stand.forget_queued(job.id)
    assert known(stand) == [(str(stand.root), 5, True)]


def test_the_same_root_is_found_by_any_way_to_write_it(stand, tmp_path, monkeypatch):
    fill(stand)
    (tmp_path / "link").symlink_to(stand.root)
    monkeypatch.chdir(tmp_path)
    for named in (f"{stand.root}/", "docs", "./docs/", "work/../docs", "link", f"{tmp_path}/link/"):
        assert stand.service.root_here(named).path == str(stand.root)


def test_a_link_in_the_old_place_does_not_stand_for_the_new_one(stand, tmp_path):
    fill(stand)
    moved = stand.root.rename(tmp_path / "moved")
    stand.root.symlink_to(moved)
    (moved / "new.md").write_text("new\n")
    stand.ingest(moved / "new.md")
    assert counters(stand.forget(stand.root)) == {"deleted": 5}
    assert known(stand) == [(str(moved), 1, True)]


@pytest.mark.parametrize("named", ["", "docs/0.md", "docs/none", ".", "/", "loop"])
def test_what_no_document_came_from_is_refused(named, stand, tmp_path, monkeypatch):
    fill(stand)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RootNotFoundError, match="flowxpert roots"):
        stand.service.root_here(named)


def test_nested_roots_are_forgotten_each_for_itself(stand):
    stand.write("sub/a.md", "LinkDown\n")
    stand.write("b.md", "FanDown\n")
    stand.ingest()
    sub = stand.root / "sub"
    stand.ingest(sub)
    assert counters(stand.forget()) == {"deleted": 2}
    assert set(stand.documents.hashes()) == {"a.md"}
    stand.ingest()
    assert counters(stand.forget(sub)) == {"deleted": 1}
    assert set(stand.documents.hashes()) == {"b.md", "sub/a.md"}


def test_a_file_that_was_ingested_alone_belongs_to_its_folder(stand):
    stand.ingest(stand.write("a.md", "LinkDown\n"))
    assert known(stand) == [(str(stand.root), 1, True)]
    assert counters(stand.forget()) == {"deleted": 1}


def test_a_moved_folder_takes_its_unchanged_documents_along(stand, tmp_path):
    fill(stand)
    before, writes = stand.contents(), stand.fuse.writes
    moved = stand.root.rename(tmp_path / "moved")
    assert counters(stand.ingest(moved)) == {"unchanged": 5}
    assert known(stand) == [(str(moved), 5, True)]
    with pytest.raises(RootNotFoundError):
        stand.forget(stand.root)
    assert (stand.contents(), stand.fuse.writes) == (before, writes)
    (moved / "0.md").unlink()
    assert counters(stand.ingest(moved)) == {"deleted": 1, "unchanged": 4}


def test_a_copy_of_a_folder_takes_nothing_from_it(stand, tmp_path):
    fill(stand)
    shutil.copytree(stand.root, tmp_path / "copy")
    assert counters(stand.ingest(tmp_path / "copy")) == {"unchanged": 5}
    assert known(stand) == [(str(stand.root), 5, True)]


def test_documents_that_their_new_folder_took_over_are_not_forgotten(stand, tmp_path):
    fill(stand)
    moved = stand.root.rename(tmp_path / "moved")
    (moved / "0.md").write_text("LinkDown, moved\n")
    (moved / "1.md").unlink()
    assert counters(stand.ingest(moved / "0.md")) == {"changed": 1}
    assert counters(stand.forget()) == {"deleted": 4}
    assert set(stand.documents.hashes()) == {"0.md"}
    assert {point.id for point in stand.vectors.of("chunks", "0.md")} == {"0.md|LinkDown, moved"}


def test_a_removal_waits_until_no_job_works_anywhere(stand, tmp_path):
    fill(stand)
    with source_lock(stand.database, str(tmp_path / "moved"), stand.work / "locks"):
        waiting = threading.Thread(target=stand.forget)
        waiting.start()
        waiting.join(0.4)
        assert known(stand) == [(str(stand.root), 5, True)]
    waiting.join(60)
    assert known(stand) == []


def test_two_removals_at_a_time_remove_everything_once(stand):
    fill(stand)
    root = stand.service.root_here(str(stand.root))
    jobs = []
    threads = [
        threading.Thread(target=lambda: jobs.append(stand.service.forget_here(root)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [job.status for job in jobs] == [JobStatus.DONE] * 3
    assert sorted(job.deleted for job in jobs) == [0, 0, 5]
    with stand.database.session() as session:
        assert session.query(IngestedRow).count() == 0
