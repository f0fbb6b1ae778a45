"""Every adapter of `DocumentStore` passes this suite."""

import pytest

from services.knowledge.model import Document
from services.knowledge.stores.sql_documents import SqlDocumentStore
from tests.contract.databases import database_of


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request):
    with database_of(request.param) as database:
        yield SqlDocumentStore(database)


def document(id_, text="# Fan\n\nReplace it: „Lüfter“ 🛠\n", content_hash="0" * 64):
    return Document(
        id=id_,
        title="Fan",
        text=text,
        content_hash=content_hash,
        front_matter={"tags": ["fan", "cooling"], "severity": "high"},
    )


def test_a_document_comes_back_as_it_was_put(store):
    store.put(document("hardware/fan.md"))
    assert store.get("hardware/fan.md") == document("hardware/fan.md")


def test_an_unknown_document_is_none(store):
    assert store.get("nobody.md") is None


def test_putting_again_replaces(store):
    store.put(document("fan.md"))
    store.put(document("fan.md", "new", "1" * 64))
    assert store.get("fan.md").text == "new"
    assert store.hashes() == {"fan.md": "1" * 64}


def test_a_deleted_document_is_gone_and_unknown_ids_are_ignored(store):
    store.put(document("fan.md"))
    store.delete("fan.md")
    store.delete("nobody.md")
    assert store.get("fan.md") is None
    assert store.hashes() == {}
