"""What every store of people's words on boxes keeps."""

import pytest

from services.procedure.store.sql_boxes import SqlBoxStore
from tests.contract.databases import database_of


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request):
    with database_of(request.param) as database:
        yield SqlBoxStore(database)


def test_a_word_comes_back_with_its_document(store):
    store.put("a.md", "k1", is_step=False, who="ada")
    store.put("b.md", "k1", is_step=True, who="ada")
    assert store.corrections(["a.md", "c.md"]) == {"a.md": {"k1": False}}


def test_a_later_word_takes_the_place_of_an_earlier_one_and_may_be_taken_back(store):
    store.put("a.md", "k1", is_step=False, who="ada")
    store.put("a.md", "k1", is_step=True, who="bob")
    assert store.corrections(["a.md"]) == {"a.md": {"k1": True}}
    store.put("a.md", "k1", is_step=None, who="bob")
    assert store.corrections(["a.md"]) == {}


def test_words_go_with_a_document_that_is_forgotten(store):
    store.put("a.md", "k1", is_step=False, who="ada")
    store.put("b.md", "k1", is_step=False, who="ada")
    store.forget(["a.md"])
    assert store.corrections(["a.md", "b.md"]) == {"b.md": {"k1": False}}
