"""Every adapter of `AnswerStore` passes this suite."""

import threading

import pytest

from services.kit.lru_cache import LruCache
from services.runbook.model import Reader, Reading
from services.runbook.ports import JudgedAnswer
from services.runbook.store.sql_readings import SqlReadingStore
from services.runbook.store.sql_scoring import SqlAnswerStore
from tests.contract.databases import database_of

TEXT, OTHER = "a" * 64, "b" * 64
YES, NO = JudgedAnswer(TEXT, (0.9, 0.1)), JudgedAnswer(OTHER, (0.1, 0.9))


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request):
    if request.param == "memory":
        yield LruCache[str, JudgedAnswer](2000)
        return
    with database_of(request.param) as database:
        yield SqlAnswerStore(database)


def test_what_nobody_answered_is_unknown(store):
    assert store.get_many(["k" * 64]) == {}
    assert store.get_many([]) == {}


def test_an_answer_comes_back_as_it_was_kept(store):
    store.keep({"1": YES, "2": NO, "3": JudgedAnswer(TEXT, ())})
    assert store.get_many(["2", "3", "4"]) == {"2": NO, "3": JudgedAnswer(TEXT, ())}


def test_a_later_answer_takes_the_place_of_an_earlier_one(store):
    store.keep({"1": YES})
    store.keep({"1": NO})
    assert store.get_many(["1"]) == {"1": NO}


def test_many_answers_are_found_at_once(store):
    many = {f"{n:04d}": JudgedAnswer(TEXT, (n / 2000, 1 - n / 2000)) for n in range(1200)}
    store.keep(many)
    assert store.get_many(list(many)) == many


def test_threads_may_keep_the_same_answers(store):
    keeping = [threading.Thread(target=store.keep, args=({"1": YES, "2": NO},)) for _ in range(8)]
    for thread in keeping:
        thread.start()
    for thread in keeping:
        thread.join()
    assert store.get_many(["1", "2"]) == {"1": YES, "2": NO}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_answers_go_with_the_text_that_is_forgotten(kind):
    with database_of(kind) as database:
        answers, readings = SqlAnswerStore(database), SqlReadingStore(database)
        readings.put(TEXT, Reading(reader=Reader.RULES))
        readings.put(OTHER, Reading(reader=Reader.MODEL))
        answers.keep({"1": YES, "2": NO})
        readings.drop([TEXT, OTHER])
        assert answers.get_many(["1", "2"]) == {"2": NO}
        readings.delete([OTHER])
        assert answers.get_many(["1", "2"]) == {}
