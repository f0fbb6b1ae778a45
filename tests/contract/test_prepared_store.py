"""Every adapter of `PreparedStore` passes this suite."""

import threading

import pytest

from services.runbook.model import Reader, Reading
from services.runbook.ports import Happening
from services.runbook.store.sql_readings import SqlReadingStore
from services.runbook.store.sql_scoring import SqlPreparedStore
from tests.contract.databases import database_of
from tests.unit.runbook.programs import do, procedure

TEXT, OTHER = "a" * 64, "b" * 64
NOW, NEWER = "1" * 16, "2" * 16
COMPOSED = Reading(reader=Reader.COMPOSED, procedures=(procedure(do("Look", 1)),))


@pytest.fixture(params=["sqlite", "postgresql"])
def stores(request):
    with database_of(request.param) as database:
        yield SqlPreparedStore(database), SqlReadingStore(database)


def prepare(store: SqlPreparedStore, version: str = NOW, **records: str) -> None:
    """All that waits, as the background pass does it."""
    for text_hash, seen_at in store.waiting(version, 10).items():
        store.keep(text_hash, version, records)
        store.done(text_hash, version, seen_at, list(records))


def test_records_come_back_as_they_were_kept(stores):
    store, _ = stores
    assert store.get_many(["1"]) == store.get_many([]) == {}
    store.keep(TEXT, NOW, {"1": "one", "2": "two"})
    store.keep(TEXT, NOW, {"1": "again"})
    store.keep(TEXT, NOW, {})
    assert store.get_many(["1", "2", "3"]) == {"1": "again", "2": "two"}


def test_many_are_found_at_once(stores):
    many = {f"{n:04d}": "x" for n in range(1200)}
    store, _ = stores
    store.keep(TEXT, NOW, many)
    assert store.get_many(list(many)) == many


def test_a_text_waits_until_it_is_prepared_and_again_for_another_version(stores):
    store, readings = stores
    readings.put(TEXT, COMPOSED)
    assert list(store.waiting(NOW, 10)) == [TEXT]
    prepare(store, one="x")
    assert store.waiting(NOW, 10) == {}
    assert list(store.waiting(NEWER, 10)) == [TEXT]


def test_what_another_version_has_prepared_waits_for_nobody_who_has_been_through(stores):
    store, readings = stores
    readings.put(TEXT, COMPOSED)
    assert list(store.waiting(None, 10)) == [TEXT]
    prepare(store)
    assert store.waiting(None, 10) == {}


def test_a_text_waits_again_after_each_way_in_which_its_reading_changes(stores):
    store, readings = stores
    readings.put(TEXT, COMPOSED)
    by_person = COMPOSED.model_copy(update={"reader": Reader.PERSON})
    by_model = COMPOSED.model_copy(update={"reader": Reader.MODEL, "version": "2"})
    changes = [
        lambda: readings.put(TEXT, by_model),
        lambda: readings.approve(TEXT, COMPOSED.procedures, who="ada"),
        lambda: readings.replace(TEXT, by_person, who="ada", what=Happening.REPLACED),
        lambda: readings.undo(TEXT, who="ada"),
        lambda: readings.carry_over(TEXT, (), lost=["Other"]),
    ]
    for change in changes:
        prepare(store)
        assert store.waiting(NOW, 10) == {}
        change()
        assert list(store.waiting(NOW, 10)) == [TEXT]


def test_a_text_that_was_read_anew_meanwhile_goes_on_waiting(stores):
    store, readings = stores
    readings.put(TEXT, COMPOSED)
    (seen_at,) = store.waiting(NOW, 10).values()
    readings.put(TEXT, COMPOSED.model_copy(update={"version": "2"}))
    store.done(TEXT, NOW, seen_at, [])
    assert list(store.waiting(NOW, 10)) == [TEXT]


def test_records_that_nobody_asks_for_any_more_go_when_it_is_prepared_again(stores):
    store, readings = stores
    readings.put(TEXT, COMPOSED)
    store.keep(OTHER, NOW, {"other": "stays"})
    prepare(store, old="x", same="x")
    prepare(store, NEWER, same="x", new="x")
    assert store.get_many(["old", "same", "new", "other"]).keys() == {"same", "new", "other"}


@pytest.mark.parametrize("forget", ["delete", "drop"])
def test_records_go_with_the_text_that_is_forgotten(stores, forget):
    store, readings = stores
    for text_hash in (TEXT, OTHER):
        readings.put(text_hash, Reading(reader=Reader.RULES))
        store.keep(text_hash, NOW, {text_hash: "x"})
    getattr(readings, forget)([TEXT])
    assert store.get_many([TEXT, OTHER]).keys() == {OTHER}


def test_processes_may_prepare_the_same_at_once(stores):
    store, readings = stores
    readings.put(TEXT, COMPOSED)
    making = [
        threading.Thread(target=prepare, args=(store,), kwargs={"one": "x"}) for _ in range(6)
    ]
    for thread in making:
        thread.start()
    for thread in making:
        thread.join()
    assert store.get_many(["one"]) == {"one": "x"}
    assert store.waiting(NOW, 10) == {}
