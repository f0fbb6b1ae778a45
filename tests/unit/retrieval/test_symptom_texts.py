"""What people write of a page finds it, and is neither shown nor cited."""

import pytest

from services.contracts.retrieval import RetrieveRequest
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Chunk, Document, Span
from services.knowledge.screening.document import ScreenedDocument, hash_of
from services.knowledge.stores.points import chunk_point
from services.knowledge.stores.qdrant import QdrantVectorStore
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.knowledge.stores.sql_symptom_texts import SqlSymptomTexts
from services.retrieval import lifting_texts as module
from services.retrieval.service import RetrievalService
from services.retrieval.settings import RetrievalSettings

EMBEDDER = HashingEmbedder()
PAGES = {
    "fan.md": ("Fan tray failed", "The inlet grows hot. Reseat the tray."),
    "bgp.md": ("BGP session down", "The neighbour left the established state. Clear the session."),
    "lift.md": ("Goods lift stuck", "The lift stands still between floors. Reset its controller."),
}
SYMPTOMS = ("Pallets pile up at dock four", "We cannot get anything upstairs")
VAGUE = {"title": "Pallets pile up again at dock four"}


@pytest.fixture(autouse=True)
def _looks_at_once(monkeypatch):
    monkeypatch.setattr(module, "LOOK_EVERY_S", 0.0)


@pytest.fixture
def database():
    made = Database.memory()
    made.migrate("knowledge")
    yield made
    made.close()


@pytest.fixture
def documents(database):
    store = SqlDocumentStore(database)
    for id_, (title, text) in PAGES.items():
        store.put(ScreenedDocument(Document(id=id_, title=title, text=text, content_hash=id_)))
    return store


@pytest.fixture
def texts(database, documents):
    return SqlSymptomTexts(database)


@pytest.fixture
def retrieval(database, documents, texts):
    vectors = QdrantVectorStore.in_memory(EMBEDDER.dimensions)
    for id_, (title, text) in PAGES.items():
        span = Span(document_id=id_, start_line=1, end_line=1)
        chunk = Chunk(id=id_, span=span, heading_path=(title,), text=text)
        vector = EMBEDDER.embed([chunk.embedded_text])[0].tolist()
        vectors.upsert("chunks", [chunk_point(chunk, vector)])
    settings = RetrievalSettings(_env_file=None)
    graph = SqlGraphStore(database)
    return RetrievalService(vectors, graph, documents, EMBEDDER, settings, symptom_texts=texts)


def keep(texts, page="lift.md", symptoms=SYMPTOMS, model=EMBEDDER.model_name):
    return texts.put(hash_of(PAGES[page][1]), symptoms, EMBEDDER.embed(symptoms), model)


def ask(retrieval, *, with_cases=True, **fields):
    return retrieval.retrieve(RetrieveRequest(with_cases=with_cases, **fields))


def test_a_ticket_in_peoples_words_finds_the_page(retrieval, texts):
    before = ask(retrieval, **VAGUE)
    assert keep(texts)
    after = ask(retrieval, **VAGUE)
    assert after.chunks[0].chunk.span.document_id == "lift.md"
    assert after.confidence > before.confidence
    assert any("like what people write" in reason for reason in after.chunks[0].reasons)


def test_nothing_of_it_is_shown_or_counted_as_a_word_of_the_page(retrieval, texts):
    before = ask(retrieval, **VAGUE)
    keep(texts)
    after = ask(retrieval, **VAGUE)
    assert {each.chunk.id for each in after.chunks} <= PAGES.keys()
    assert "upstairs" not in after.model_dump_json()
    assert after.words == before.words


def test_without_any_the_answer_is_what_it_was(retrieval, texts):
    other = {"title": "Fan tray failed, the inlet is hot"}
    before = ask(retrieval, **other)
    assert ask(retrieval, **other) == before
    keep(texts)
    searched = ask(retrieval, with_cases=False, **VAGUE)
    assert not any("people write" in r for each in searched.chunks for r in each.reasons)


def test_they_go_with_the_text_of_their_page(retrieval, texts, documents):
    keep(texts)
    changed = Document(id="lift.md", title="Lift", text="Another text.", content_hash="2")
    documents.put(ScreenedDocument(changed))
    assert texts.of_documents(EMBEDDER.model_name)[0] == []
    assert texts.of_other_models("", 10) == {}, "they are not only hidden"
    keep(texts, "fan.md")
    documents.put(
        ScreenedDocument(
            Document(id="copy.md", title="Fan", text=PAGES["fan.md"][1], content_hash="3")
        )
    )
    documents.delete("fan.md")
    assert set(texts.of_documents(EMBEDDER.model_name)[0]) == {"copy.md"}
    documents.delete("copy.md")
    assert texts.of_other_models("", 10) == {}


def test_a_text_that_no_document_has_keeps_nothing(texts):
    assert not texts.put("0" * 64, SYMPTOMS, EMBEDDER.embed(SYMPTOMS), EMBEDDER.model_name)


def test_what_another_model_embedded_is_not_compared_and_can_be_listed(texts):
    keep(texts, model="another")
    assert texts.of_documents(EMBEDDER.model_name)[0] == []
    assert texts.of_other_models(EMBEDDER.model_name, 10) == {
        hash_of(PAGES["lift.md"][1]): list(SYMPTOMS)
    }
