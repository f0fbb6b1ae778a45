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
from tests.unit.ingestion.harness import IngestionHarness, Killed, counters
from tests.unit.ingestion.scripted_graph import GraphModel, pipeline_of


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A second root, which shares a node with the first."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "o.md").write_text("LinkDown elsewhere\n")
    return folder


def fill(harness: IngestionHarness) -> None:
    for number in range(5):
        harness.write(f"{number}.md", f"LinkDown\n\nwords of {number}\n\nAlarm{number}Down\n")
    harness.ingest()


def roots_of(harness: IngestionHarness) -> list[tuple[str, int, bool]]:
    return [(root.path, root.documents, root.is_there) for root in harness.service.roots()]


def test_roots_are_listed_with_what_is_known_of_them(harness, other, tmp_path):
    fill(harness)
    harness.ingest(other)
    gone = harness.root.rename(tmp_path / "elsewhere")
    harness.pipeline = Pipeline("2", harness.pipeline.split, harness.pipeline.extract)
    harness.ingest(other)
    first, second = harness.service.roots()
    assert (first.path, first.documents, first.outdated) == (str(harness.root), 5, 5)
    assert (second.path, second.documents, second.outdated) == (str(other), 1, 0)
    assert (gone.exists(), first.is_there, second.is_there) == (True, False, True)


def test_of_a_forgotten_root_nothing_is_left_and_of_the_others_everything(harness, other, tmp_path):
    harness.ingest(other)
    before = harness.contents()
    fill(harness)
    harness.root.rename(tmp_path / "elsewhere")
    assert counters(harness.forget()) == {"deleted": 5}
    assert harness.contents() == before
    assert roots_of(harness) == [(str(other), 1, True)]
    assert (tmp_path / "elsewhere" / "0.md").exists()


def test_what_a_model_built_of_a_forgotten_root_is_forgotten_too(harness):
    harness.pipeline = pipeline_of(harness.embedder)
    harness.write("pumps.md", "# Pumps\n\nThe pump leaks at its shaft.\n")
    harness.ingest()
    model = GraphModel({"Pump leaks": {"failure_description": ["The pump leaks at its shaft."]}})
    assert harness.service.build_pass(model.guarded).run(ChosenDocuments()).built == 1
    harness.forget()
    with harness.database.session() as session:
        assert session.query(BuiltRow).count() == 0
    assert harness.vectors.count("nodes") == harness.graph.count() == 0


@pytest.mark.parametrize("then", ["forget", "ingest"])
def test_a_removal_killed_at_any_write_ends_by_the_next_or_is_undone_by_an_ingest(
    then, tmp_path_factory
):
    for after in range(1000):
        harness = IngestionHarness(tmp_path_factory.mktemp("killed"))
        fill(harness)
        before = harness.contents()
        harness.break_writing(after=after)
        try:
            harness.forget()
            break
        except Killed:
            assert roots_of(harness) == [(str(harness.root), 5, True)]
        if then == "forget":
            assert counters(harness.forget()) == {"deleted": 5}
            assert harness.vectors.points == {"chunks": {}, "nodes": {}}
            assert (harness.contents()["graph"], harness.service.roots()) == (0, [])
        else:
            assert counters(harness.ingest()) == {"changed": 5}
            assert harness.contents() == before
    assert after > 5


def test_a_document_that_comes_back_after_a_killed_ingest_began_to_remove_it_is_whole(harness):
    fill(harness)
    before = harness.contents()
    text = (harness.root / "0.md").read_bytes()
    away = (harness.root / "0.md").rename(harness.root.parent / "0.md")
    harness.break_writing(after=1)
    with pytest.raises(Killed):
        harness.ingest()
    away.rename(harness.root / "0.md")
    assert (harness.root / "0.md").read_bytes() == text
    assert counters(harness.ingest()) == {"changed": 1, "unchanged": 4}
    assert harness.contents() == before


def test_a_queued_removal_that_was_killed_goes_on_and_counts_everything_once(harness):
    fill(harness)
    job = harness.service.forget(ForgetRequest(root=str(harness.root)))
    harness.break_writing(after=4)
    with pytest.raises(Killed):
        harness.forget_queued(job.id)
    assert harness.service.job(job.id).status is JobStatus.RUNNING
    harness.forget_queued(job.id)
    assert counters(harness.service.job(job.id)) == {"deleted": 5}
    fill(harness)
    harness.forget_queued(job.id)
    assert roots_of(harness) == [(str(harness.root), 5, True)]


def test_the_same_root_is_found_by_any_way_to_write_it(harness, tmp_path, monkeypatch):
    fill(harness)
    (tmp_path / "link").symlink_to(harness.root)
    monkeypatch.chdir(tmp_path)
    for named in (
        f"{harness.root}/",
        "docs",
        "./docs/",
        "work/../docs",
        "link",
        f"{tmp_path}/link/",
    ):
        assert harness.service.root_here(named).path == str(harness.root)


def test_a_link_in_the_old_place_does_not_stand_for_the_new_one(harness, tmp_path):
    fill(harness)
    moved = harness.root.rename(tmp_path / "moved")
    harness.root.symlink_to(moved)
    (moved / "new.md").write_text("new\n")
    harness.ingest(moved / "new.md")
    assert counters(harness.forget(harness.root)) == {"deleted": 5}
    assert roots_of(harness) == [(str(moved), 1, True)]


@pytest.mark.parametrize("named", ["", "docs/0.md", "docs/none", ".", "/", "loop"])
def test_what_no_document_came_from_is_refused(named, harness, tmp_path, monkeypatch):
    fill(harness)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RootNotFoundError, match="flowxpert roots"):
        harness.service.root_here(named)


def test_nested_roots_are_forgotten_each_for_itself(harness):
    harness.write("sub/a.md", "LinkDown\n")
    harness.write("b.md", "FanDown\n")
    harness.ingest()
    sub = harness.root / "sub"
    harness.ingest(sub)
    assert counters(harness.forget()) == {"deleted": 2}
    assert set(harness.documents.hashes()) == {"a.md"}
    harness.ingest()
    assert counters(harness.forget(sub)) == {"deleted": 1}
    assert set(harness.documents.hashes()) == {"b.md", "sub/a.md"}


def test_a_file_that_was_ingested_alone_belongs_to_its_folder(harness):
    harness.ingest(harness.write("a.md", "LinkDown\n"))
    assert roots_of(harness) == [(str(harness.root), 1, True)]
    assert counters(harness.forget()) == {"deleted": 1}


def test_a_moved_folder_takes_its_unchanged_documents_along(harness, tmp_path):
    fill(harness)
    before, writes = harness.contents(), harness.fuse.writes
    moved = harness.root.rename(tmp_path / "moved")
    assert counters(harness.ingest(moved)) == {"unchanged": 5}
    assert roots_of(harness) == [(str(moved), 5, True)]
    with pytest.raises(RootNotFoundError):
        harness.forget(harness.root)
    assert (harness.contents(), harness.fuse.writes) == (before, writes)
    (moved / "0.md").unlink()
    assert counters(harness.ingest(moved)) == {"deleted": 1, "unchanged": 4}


def test_a_copy_of_a_folder_takes_nothing_from_it(harness, tmp_path):
    fill(harness)
    shutil.copytree(harness.root, tmp_path / "copy")
    assert counters(harness.ingest(tmp_path / "copy")) == {"unchanged": 5}
    assert roots_of(harness) == [(str(harness.root), 5, True)]


def test_documents_that_their_new_folder_took_over_are_not_forgotten(harness, tmp_path):
    fill(harness)
    moved = harness.root.rename(tmp_path / "moved")
    (moved / "0.md").write_text("LinkDown, moved\n")
    (moved / "1.md").unlink()
    assert counters(harness.ingest(moved / "0.md")) == {"changed": 1}
    assert counters(harness.forget()) == {"deleted": 4}
    assert set(harness.documents.hashes()) == {"0.md"}
    assert {point.id for point in harness.vectors.of("chunks", "0.md")} == {"0.md|LinkDown, moved"}


def test_a_removal_waits_until_no_job_works_anywhere(harness, tmp_path):
    fill(harness)
    with source_lock(harness.database, str(tmp_path / "moved"), harness.work / "locks"):
        waiting = threading.Thread(target=harness.forget)
        waiting.start()
        waiting.join(0.4)
        assert roots_of(harness) == [(str(harness.root), 5, True)]
    waiting.join(60)
    assert roots_of(harness) == []


def test_two_removals_at_a_time_remove_everything_once(harness):
    fill(harness)
    root = harness.service.root_here(str(harness.root))
    jobs = []
    threads = [
        threading.Thread(target=lambda: jobs.append(harness.service.forget_here(root)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [job.status for job in jobs] == [JobStatus.DONE] * 3
    assert sorted(job.deleted for job in jobs) == [0, 0, 5]
    with harness.database.session() as session:
        assert session.query(IngestedRow).count() == 0
