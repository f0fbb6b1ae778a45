"""Resolved tickets lift the page that helped: a ticket like them finds it, another does not."""

import pytest

from services.contracts.retrieval import RetrieveRequest
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Chunk, Document, ResolvedCase, Span
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.stores.points import chunk_point
from services.knowledge.stores.qdrant import QdrantVectorStore
from services.knowledge.stores.sql_archive import SqlCaseArchive
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.retrieval import lifting_texts
from services.retrieval.service import RetrievalService
from services.retrieval.settings import RetrievalSettings

EMBEDDER = HashingEmbedder()
PAGES = {
    "fan.md": ("Fan tray failed", "The inlet grows hot. Reseat the tray."),
    "bgp.md": ("BGP session down", "The neighbour left the established state. Clear the session."),
    "lift.md": ("Goods lift stuck", "The lift stands still between floors. Reset its controller."),
}
SEEN = ResolvedCase(
    id="t-1",
    document_id="lift.md",
    title="Pallets pile up at dock four",
    text="Pallets pile up at dock four since the night shift",
    at=1.0,
)
VAGUE = {"title": "Pallets pile up again at dock four"}


@pytest.fixture(autouse=True)
def _looks_at_once(monkeypatch):
    monkeypatch.setattr(lifting_texts, "LOOK_EVERY_S", 0.0)


@pytest.fixture
def database():
    made = Database.memory()
    made.migrate("knowledge")
    yield made
    made.close()


@pytest.fixture
def archive(database):
    return SqlCaseArchive(database, most=2)


@pytest.fixture
def make(database, archive):
    vectors = QdrantVectorStore.in_memory(EMBEDDER.dimensions)
    documents = SqlDocumentStore(database)
    for id_, (title, text) in PAGES.items():
        documents.put(ScreenedDocument(Document(id=id_, title=title, text=text, content_hash=id_)))
        span = Span(document_id=id_, start_line=1, end_line=1)
        chunk = Chunk(id=id_, span=span, heading_path=(title,), text=text)
        vector = EMBEDDER.embed([chunk.embedded_text])[0].tolist()
        vectors.upsert("chunks", [chunk_point(chunk, vector)])

    def made(**settings):
        graph, chosen = SqlGraphStore(database), RetrievalSettings(_env_file=None, **settings)
        return RetrievalService(vectors, graph, documents, EMBEDDER, chosen, archive=archive)

    return made


def keep(archive, case=SEEN):
    (vector,) = EMBEDDER.embed([f"{case.title}\n{case.text}"])
    return archive.put(case, vector.tolist(), EMBEDDER.model_name)


def ask(retrieval, *, with_cases=True, **fields):
    return retrieval.retrieve(RetrieveRequest(with_cases=with_cases, **fields))


def test_a_ticket_like_a_resolved_one_finds_the_page_that_helped(make, archive):
    retrieval = make(alike_from=0.5)
    before = ask(retrieval, **VAGUE)
    assert keep(archive)
    after = ask(retrieval, **VAGUE)
    assert after.chunks[0].chunk.span.document_id == "lift.md"
    assert any(
        reason.startswith("like a ticket that was resolved with it (0.")
        for reason in after.chunks[0].reasons
    )
    assert after.confidence > before.confidence


def test_a_case_is_no_text_of_its_page(make, archive):
    keep(archive)
    context = ask(make(alike_from=0.5), **VAGUE)
    assert {each.chunk.id for each in context.chunks} <= PAGES.keys()
    assert all("Pallets" not in each.chunk.text for each in context.chunks)


def test_another_ticket_finds_what_it_found_before(make, archive):
    retrieval, other = make(), {"title": "Fan tray failed, the inlet is hot at dock four"}
    before = ask(retrieval, **other)
    keep(archive)
    assert ask(retrieval, **other) == before


@pytest.mark.parametrize("settings", [{"resolved_cases": 0}, {"alike_from": 1.0}])
def test_it_can_be_switched_off(make, archive, settings):
    retrieval = make(**settings)
    before = ask(retrieval, **VAGUE)
    keep(archive)
    assert ask(retrieval, **VAGUE) == before


def test_who_does_not_ask_for_a_ticket_finds_the_documents_alone(make, archive):
    retrieval = make(alike_from=0.5)
    before = ask(retrieval, with_cases=False, **VAGUE)
    keep(archive)
    assert ask(retrieval, with_cases=False, **VAGUE) == before


def test_a_case_stays_when_its_page_is_read_anew_and_goes_when_it_is_forgotten(archive, database):
    documents = SqlDocumentStore(database)
    documents.put(ScreenedDocument(Document(id="lift.md", title="x", text="y", content_hash="1")))
    assert keep(archive)
    documents.put(ScreenedDocument(Document(id="lift.md", title="x", text="z", content_hash="2")))
    assert archive.newest(9, EMBEDDER.model_name)[0] == [SEEN]
    documents.delete("lift.md")
    assert archive.newest(9, EMBEDDER.model_name)[0] == []
    assert not keep(archive)


def test_of_a_page_the_newest_are_kept_each_saying_something_else(archive, make):
    make()
    for n in range(4):
        keep(archive, SEEN.model_copy(update={"id": f"t-{n}", "at": float(n)}))
        keep(archive, SEEN.model_copy(update={"id": f"u-{n}", "at": 9.0 + n, "text": f"It is {n}"}))
    cases, vectors = archive.newest(9, EMBEDDER.model_name)
    assert [case.id for case in cases] == ["u-3", "u-2"]
    assert vectors.shape == (2, EMBEDDER.dimensions)
    state = archive.state()
    archive.remove(["u-3", "none"])
    assert [case.id for case in archive.newest(9, EMBEDDER.model_name)[0]] == ["u-2"]
    assert archive.state() != state
    assert archive.newest(9, "another model")[0] == []


@pytest.mark.parametrize("fields", [{"id": ""}, {"text": "a\0b"}, {"title": "\ud800"}, {"at": -1}])
def test_what_no_store_takes_is_no_case(fields):
    with pytest.raises(ValueError, match="1 validation error"):
        ResolvedCase(**{**SEEN.model_dump(), **fields})
