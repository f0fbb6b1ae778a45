import threading

import pytest

from services.ingestion.jobs.lock import all_sources_lock, source_lock
from services.ingestion.structure.pipeline import Pipeline
from services.knowledge.tables import NodeRow
from tests.unit.ingestion.harness import (
    FakeVectors,
    IngestionHarness,
    Killed,
    counters,
    node_per_alert,
    split_by_blank_lines,
)


@pytest.fixture
def filled(harness: IngestionHarness) -> IngestionHarness:
    harness.write("a.md", "# A\n\nLinkDown happens.\n")
    harness.write("sub/b.txt", "FanDown\n\nand LinkDown\n")
    harness.ingest()
    return harness


def test_a_reindex_fills_empty_stores_from_the_stored_text(filled):
    before = filled.contents()
    filled.vectors.points = FakeVectors().points
    with filled.database.session() as session:
        session.query(NodeRow).delete()
    progress = []
    for path in filled.root.rglob("*.*"):
        path.unlink()
    assert filled.service.reindex(lambda done, total: progress.append((done, total))) == 2
    assert filled.contents() == before
    assert progress == [(2, 2)]


def test_what_was_reindexed_is_found_unchanged_by_the_next_ingest(filled):
    filled.service.reindex()
    assert counters(filled.ingest()) == {"unchanged": 2}


def test_chunks_that_new_code_no_longer_makes_are_gone(filled):
    filled.pipeline = Pipeline(
        "2", lambda document: split_by_blank_lines(document)[:1], node_per_alert
    )
    filled.service.reindex()
    assert filled.vectors.count("chunks") == 2
    filled.write("a.md", "# A\n\nother words\n")
    filled.ingest()
    assert {id_ for id_ in filled.vectors.points["chunks"] if id_.startswith("a.md")} == {
        "a.md|# A"
    }


def test_a_document_made_by_older_code_is_still_read_again_by_the_next_ingest(filled):
    filled.pipeline = Pipeline("2", split_by_blank_lines, node_per_alert)
    filled.service.reindex()
    assert counters(filled.ingest()) == {"changed": 2}


def test_a_killed_reindex_leaves_what_is_searched_as_it_was(filled):
    before = filled.contents()
    filled.break_writing(after=1)
    with pytest.raises(Killed):
        filled.service.reindex()
    assert filled.contents() == before


def test_a_reindex_waits_for_the_jobs_and_the_jobs_for_it(filled):
    folder, order = filled.work / "locks", []

    def reindex():
        with all_sources_lock(filled.database, folder):
            order.append("reindex")

    def job(source):
        with source_lock(filled.database, source, folder):
            order.append(source)

    with source_lock(filled.database, "a", folder), source_lock(filled.database, "b", folder):
        waiting = threading.Thread(target=reindex)
        waiting.start()
        waiting.join(0.3)
        assert order == []
    waiting.join(60)
    with all_sources_lock(filled.database, folder):
        waiting = threading.Thread(target=job, args=("c",))
        waiting.start()
        waiting.join(0.3)
        assert order == ["reindex"]
    waiting.join(60)
    assert order == ["reindex", "c"]
