"""Searches on each database: what two would write, who drives, what is kept."""

import pytest

from services.contracts.searching import SearchOutcome
from services.investigation.search.events import NewSearchEvent, SearchEventKind
from services.investigation.search.store import (
    LostSearchError,
    SearchMovedError,
    SearchNotFoundError,
    SearchStore,
    SearchUnderWayError,
)
from services.kit.queue.outbox import Outbox
from tests.contract.databases import database_of
from tests.unit.investigation.seeking import FINDS, SHUT_DOWN, Seeking


@pytest.fixture(params=["sqlite", "postgres"])
def seeking(request):
    with database_of(request.param) as database:
        seeking = Seeking(*FINDS)
        seeking.database.close()
        seeking.database = database
        seeking.outbox = Outbox(database)
        seeking.store = SearchStore(database, seeking.outbox)
        seeking.engine = seeking.new_engine()
        yield seeking


def test_a_search_is_driven_to_its_end(seeking):
    search = seeking.start()
    assert seeking.go(search).outcome is SearchOutcome.DIAGNOSED
    assert [each.cause for each in seeking.store.of_ticket("t")] == [SHUT_DOWN]
    assert [each.id for each in seeking.store.latest()] == [search]


def test_an_unknown_search_is_none(seeking):
    with pytest.raises(SearchNotFoundError):
        seeking.store.load("nothing")


def test_of_two_who_add_the_same_event_one_is_refused(seeking):
    stored = seeking.store.load(seeking.start())
    seeking.store.append(stored, [NewSearchEvent(SearchEventKind.PAUSED, by="a")], 0)
    with pytest.raises(SearchMovedError):
        seeking.store.append(stored, [NewSearchEvent(SearchEventKind.PAUSED, by="b")], 0)


def test_one_worker_drives_it_and_another_adds_nothing(seeking):
    search = seeking.start()
    assert seeking.store.leases.acquire(search, "me", 60)
    assert not seeking.store.leases.acquire(search, "another", 60)
    stored = seeking.store.load(search)
    with pytest.raises(LostSearchError):
        seeking.store.append(stored, [NewSearchEvent(SearchEventKind.PAUSED)], 0, driver="another")
    seeking.store.leases.release(search, "me")
    assert seeking.store.leases.acquire(search, "another", 60)


def test_a_ticket_has_one_search_at_a_time(seeking):
    search = seeking.start()
    with pytest.raises(SearchUnderWayError):
        seeking.start()
    seeking.go(search)
    seeking.start()
