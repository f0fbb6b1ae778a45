"""What every store of people's words on boxes keeps."""

import pytest

from services.kit.access.audit import AuditFilter, AuditLog
from services.runbook.ports import MarkedBlock
from services.runbook.store.sql_boxes import SqlBoxStore
from tests.contract.databases import database_of


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    with database_of(request.param) as database:
        yield database


@pytest.fixture
def store(database):
    return SqlBoxStore(database)


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


def test_a_word_says_whose_it_is_of_which_block_and_how_it_stood_before(store):
    block = MarkedBlock(words="Vent the loop", headings=("Pump",), line=7, was_step=True)
    store.put("whose/a.md", "k1", is_step=False, who="ada", block=block)
    store.put("whose/a.md", "k2", is_step=True, who="bob")
    later, first = store.words("whose/a.md")
    assert (later.key, later.who, later.words, later.was_step) == ("k2", "bob", "", None)
    assert (first.key, first.is_step, first.was_step) == ("k1", False, True)
    assert (first.words, first.headings, first.who) == ("Vent the loop", ("Pump",), "ada")
    assert store.words("whose/b.md") == []


def test_each_change_is_in_the_audit_log_without_words_of_the_page(store, database):
    block = MarkedBlock(words="Vent the loop", line=7, was_step=True)
    for is_step in (False, False, True, None, None):
        store.put("audited.md", "k1", is_step=is_step, who="ada", block=block)
    lines = AuditLog(database).lines(AuditFilter(subject="document audited.md"))[::-1]
    assert [(line["action"], line["subject"]) for line in lines] == [
        ("box.corrected", "document audited.md"),
        ("box.corrected", "document audited.md"),
        ("box.taken_back", "document audited.md"),
    ]
    assert [line["before"] for line in lines] == [
        {"is_step": True, "by": "form"},
        {"is_step": False, "by": "ada"},
        {"is_step": True, "by": "ada"},
    ]
    assert [line["after"]["is_step"] for line in lines] == [False, True, True]
    assert {(line["after"]["key"], line["after"]["line"]) for line in lines} == {("k1", 7)}
    assert "Vent" not in str(lines)
