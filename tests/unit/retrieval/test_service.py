import pytest

from services.contracts.retrieval import RetrievedContext, RetrieveRequest
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import (
    Chunk,
    Document,
    IncidentNode,
    Passage,
    SectionRole,
    Span,
)
from services.knowledge.ports import DocumentNotFoundError, StoreUnavailableError
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.stores.points import chunk_point, node_embedded_text, node_point
from services.knowledge.stores.qdrant import QdrantVectorStore
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.retrieval.service import RetrievalService
from services.retrieval.settings import RetrievalSettings

EMBEDDER = HashingEmbedder()
PAGES = {
    "fan.md": (
        "Fan tray failed",
        ("FanTrayFailed",),
        "The fan tray stops and the inlet grows hot.",
        "Reseat the tray, then replace the fan tray.",
        ("power.md",),
    ),
    "bgp.md": (
        "BGP session down",
        ("BGP-5-ADJCHANGE",),
        "The neighbour leaves the established state after the hold timer expired.",
        "Check the route to the neighbour, then clear the session.",
        (),
    ),
    "power.md": (
        "Power supply lost",
        (),
        "One of two supplies gives no current.",
        "Check the cable, then swap the supply.",
        (),
    ),
}


def node_of(document_id, page):
    name, aliases, failure, remedy, links = page

    def passage(text, line, role):
        span = Span(document_id=document_id, start_line=line, end_line=line)
        return Passage(span=span, role=role, heading_path=(name,), text=text)

    return IncidentNode(
        id=name.lower(),
        name=name,
        aliases=aliases,
        failure_description=(passage(failure, 3, SectionRole.SYMPTOM),),
        mitigation_steps=(passage(remedy, 5, SectionRole.REMEDY),),
        linked_documents=links,
    )


def chunks_of(document_id, title, *texts):
    for line, text in zip((3, 5), texts, strict=True):
        span = Span(document_id=document_id, start_line=line, end_line=line)
        yield Chunk(id=f"{document_id}:{line}", span=span, heading_path=(title,), text=text)


@pytest.fixture
def stores():
    database = Database.memory()
    database.migrate("knowledge")
    vectors = QdrantVectorStore.in_memory(EMBEDDER.dimensions)
    yield vectors, SqlGraphStore(database), SqlDocumentStore(database)
    database.close()


@pytest.fixture
def retrieval(stores):
    vectors, graph, documents = stores
    for id_, page in PAGES.items():
        name, _, failure, remedy, _ = page
        text = f"# {name}\n\n{failure}\n\n{remedy}\n"
        documents.put(ScreenedDocument(Document(id=id_, title=name, text=text, content_hash=id_)))
        node = node_of(id_, page)
        graph.replace_document(id_, [node])
        vector = EMBEDDER.embed([node_embedded_text(node)])[0].tolist()
        vectors.upsert("nodes", [node_point(node, vector)])
        chunks = list(chunks_of(id_, name, failure, remedy))
        embedded = EMBEDDER.embed([chunk.embedded_text for chunk in chunks]).tolist()
        vectors.upsert(
            "chunks", [chunk_point(*pair) for pair in zip(chunks, embedded, strict=True)]
        )
    return RetrievalService(*stores, EMBEDDER)


def ask(retrieval, **fields) -> RetrievedContext:
    return retrieval.retrieve(RetrieveRequest(**fields))


def test_an_empty_store_fits_nothing(stores):
    context = ask(RetrievalService(*stores, EMBEDDER), title="Fan failed")
    assert context == RetrievedContext()


def test_an_empty_request_fits_nothing(retrieval):
    assert ask(retrieval) == RetrievedContext()


def test_the_page_that_tells_the_symptom_comes_first(retrieval):
    context = ask(
        retrieval,
        title="BGP session down",
        description="The neighbour leaves the established state, hold timer expired",
    )
    assert context.chunks[0].chunk.span.document_id == "bgp.md"
    assert context.nodes[0].node.name == "BGP session down"
    assert context.confidence > 0.5


def test_scores_fall_and_stay_between_0_and_1(retrieval):
    context = ask(retrieval, title="fan tray stops", description="the inlet is hot")
    for hits in (context.chunks, context.nodes):
        scores = [each.score for each in hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


def test_an_exact_alert_name_counts_and_is_told_as_the_reason(retrieval):
    context = ask(retrieval, alert_name="FanTrayFailed", description="one supply gives no current")
    assert context.nodes[0].node.name == "Fan tray failed"
    assert any("FanTrayFailed" in reason for reason in context.nodes[0].reasons)


def test_an_error_code_in_the_text_counts(retrieval):
    context = ask(retrieval, title="log shows BGP-5-ADJCHANGE on leaf 3")
    assert context.nodes[0].node.name == "BGP session down"
    assert any("BGP-5-ADJCHANGE" in reason for reason in context.nodes[0].reasons)


def test_a_named_incident_counts_though_no_search_returns_it(retrieval, stores):
    node = node_of("odd.md", ("Zyx", ("QUX-9-ABC",), "Something else.", "Wait.", ()))
    stores[1].replace_document("odd.md", [node])
    context = ask(retrieval, title="QUX-9-ABC was logged")
    assert "Zyx" in [each.node.name for each in context.nodes]


def test_every_hit_says_why_it_was_retrieved(retrieval):
    context = ask(retrieval, title="fan tray")
    assert all(each.reasons for each in (*context.chunks, *context.nodes))


def test_text_that_no_page_treats_does_not_fit(retrieval):
    context = ask(retrieval, title="quarterly invoice template misses the tax column")
    assert context.confidence < 0.5


def test_no_more_comes_back_than_was_asked_for(retrieval):
    context = ask(retrieval, title="fan tray session supply", top_chunks=2, top_nodes=1)
    assert len(context.chunks) == 2
    assert len(context.nodes) == 1


def test_one_document_does_not_crowd_out_the_others(retrieval, stores):
    long = [
        Chunk(
            id=f"long:{line}",
            span=Span(document_id="long.md", start_line=line, end_line=line),
            heading_path=("Fan notes",),
            text=f"fan tray stops and the inlet grows hot, note {line}",
        )
        for line in range(1, 40)
    ]
    vectors = EMBEDDER.embed([chunk.embedded_text for chunk in long]).tolist()
    stores[0].upsert("chunks", [chunk_point(*pair) for pair in zip(long, vectors, strict=True)])
    context = ask(retrieval, title="fan tray stops, inlet hot", top_chunks=6)
    documents = [each.chunk.span.document_id for each in context.chunks]
    assert documents.count("long.md") <= 4
    assert "fan.md" in documents


def test_nodes_of_linked_documents_come_along(retrieval):
    context = ask(retrieval, alert_name="FanTrayFailed", top_nodes=1)
    assert [node.name for node in context.linked] == ["Power supply lost"]


def test_nothing_comes_back_of_documents_that_are_ruled_out(retrieval):
    context = ask(retrieval, title="Fan tray failed, inlet hot", without=("fan.md",))
    assert context.chunks
    places = [hit.chunk.span.document_id for hit in context.chunks]
    places += [id_ for hit in context.nodes for id_ in hit.node.document_ids]
    places += [page.document_id for page in context.pages]
    assert "fan.md" not in places
    alone = ask(retrieval, title="Fan tray failed, inlet hot", without=("power.md", "bgp.md"))
    assert [page.document_id for page in alone.pages] == ["fan.md"]


def test_the_pages_of_the_best_documents_come_first_and_then_those_they_link_to(stores, retrieval):
    one = RetrievalService(*stores, EMBEDDER, RetrievalSettings(pages=1))
    pages = ask(one, alert_name="FanTrayFailed", top_nodes=1).pages
    assert [page.document_id for page in pages] == ["fan.md", "power.md"]
    assert pages[0].score > 0
    assert pages[0].title == "Fan tray failed"


def test_no_more_pages_come_back_than_are_set(stores, retrieval):
    none_linked = RetrievalService(*stores, EMBEDDER, RetrievalSettings(pages=2, linked_pages=0))
    assert len(ask(none_linked, alert_name="FanTrayFailed").pages) == 2


def test_the_same_request_gives_the_same_answer(retrieval):
    assert ask(retrieval, title="fan tray") == ask(retrieval, title="fan tray")


def test_the_text_of_a_span_comes_with_its_title(retrieval):
    source_text = retrieval.source(Span(document_id="fan.md", start_line=3, end_line=5))
    assert source_text.text.splitlines()[0] == PAGES["fan.md"][2]
    assert source_text.document_title == "Fan tray failed"


def test_lines_beyond_the_document_are_no_text(retrieval):
    assert retrieval.source(Span(document_id="fan.md", start_line=900, end_line=901)).text == ""


def test_a_span_of_an_unknown_document_is_not_found(retrieval):
    with pytest.raises(DocumentNotFoundError, match=r"nobody\.md"):
        retrieval.source(Span(document_id="nobody.md", start_line=1, end_line=1))


FAN_TICKET = RetrieveRequest(title="The fan tray stops", alert_name="FanTrayFailed")


class Away:
    """A store that does not answer whatever is asked."""

    def __getattr__(self, _name):
        def refuse(*_args, **_kwargs):
            raise StoreUnavailableError("away")

        return refuse


def test_without_the_graph_chunks_are_found_by_the_vectors_alone(retrieval):
    retrieval._graph = Away()
    context = retrieval.retrieve(
        RetrieveRequest(title="The fan tray stops", alert_name="FanTrayFailed")
    )
    assert context.degraded == ("graph",)
    assert context.chunks[0].chunk.span.document_id == "fan.md"
    assert context.nodes == ()


@pytest.mark.parametrize("part", ["_vectors", "_embedder"])
def test_without_the_vectors_nodes_are_found_by_the_names_they_bear(retrieval, part):
    setattr(retrieval, part, Away())
    context = retrieval.retrieve(
        RetrieveRequest(title="The fan tray stops", alert_name="FanTrayFailed")
    )
    assert context.degraded == ("vectors",)
    assert context.nodes[0].node.name == "Fan tray failed"
    assert context.chunks == ()


def test_without_either_it_cannot_answer(retrieval):
    retrieval._vectors = retrieval._graph = Away()
    with pytest.raises(StoreUnavailableError):
        retrieval.retrieve(RetrieveRequest(title="The fan tray stops"))


INDEX = """# Fan tray failed, power and BGP

Fan tray failed: where to go on.

- [Sessions](bgp.md#down)
- [Supplies](power.md)
- [Fans](fan.md)
- [Valves](valves.md)
- [Fans once more](./fan.md)
"""


def links_of(retrieval, **fields):
    context = ask(retrieval, alert_name="FanTrayFailed", **fields)
    return next(page.links for page in context.pages if page.document_id == "all.md")


def test_a_page_of_links_says_where_these_lead_and_how_near_that_is(retrieval, stores):
    name = "Fan tray failed, power and BGP"
    sentences = ("The fan tray failed.", "Where to go on.")
    chunks = list(chunks_of("all.md", name, *sentences))
    vectors = EMBEDDER.embed([chunk.embedded_text for chunk in chunks]).tolist()
    stores[0].upsert("chunks", [chunk_point(*pair) for pair in zip(chunks, vectors, strict=True)])
    stores[2].put(
        ScreenedDocument(Document(id="all.md", title=name, text=INDEX, content_hash="all"))
    )
    links = links_of(retrieval)
    assert [(link.document_id, link.title, link.part) for link in links] == [
        ("bgp.md", "Sessions", "down"),
        ("power.md", "Supplies", ""),
        ("fan.md", "Fans", ""),
    ]
    nearness = {link.document_id: link.nearness for link in links}
    assert nearness["fan.md"] == max(nearness.values()) > nearness["bgp.md"]
    left = links_of(retrieval, without=("power.md",))
    assert [link.document_id for link in left] == ["bgp.md", "fan.md"]
    others = [
        page for page in ask(retrieval, title="fan tray").pages if page.document_id != "all.md"
    ]
    assert {page.links for page in others} == {()}
