from evaluation.benches.retrieval.hidden_page import HidingDocuments, HidingGraph, HidingVectors
from services.knowledge.model import Chunk, IncidentNode, Span
from services.knowledge.ports import Hit
from services.knowledge.stores.points import node_payload
from tests.unit.evaluation.walks import Library, node


def chunk_hit(id_: str, document_id: str, dense: float, sparse: float = 0.0) -> Hit:
    span = Span(document_id=document_id, start_line=1, end_line=2)
    chunk = Chunk(id=id_, span=span, heading_path=(), text="")
    return Hit(
        id=id_, payload=chunk.model_dump(mode="json"), dense_score=dense, sparse_score=sparse
    )


def shared() -> IncidentNode:
    """An incident that two pages know."""
    passages = (*node("fan.md").mitigation_steps, *node("bgp.md").mitigation_steps)
    return node("fan.md").model_copy(update={"id": "both", "mitigation_steps": passages})


class Store(Library):
    """Stores that answer with what they were given."""

    def __init__(self, *hits: Hit) -> None:
        self.hits = list(hits)
        self.limits: list[int] = []

    def search(self, _collection: str, *, vector: object, text: str, limit: int) -> list[Hit]:
        self.limits.append(limit)
        return self.hits

    def get(self, key: object) -> object:
        if isinstance(key, str):
            return super().get(key)
        nodes = {"fan.md": node("fan.md"), "both": shared()}
        return [nodes[id_] for id_ in key if id_ in nodes]

    def find_names(self, _names: object) -> dict[str, list[str]]:
        return {"fan": ["fan.md"], "session": ["both", "fan.md"]}

    def get_many(self, ids: object) -> dict[str, object]:
        return {id_: self.get(id_) for id_ in ids}

    def ids_with(self, _parts: object) -> list[str]:
        return ["fan.md", "bgp.md"]


def search(store: Store, limit: int) -> list[str]:
    hiding = HidingVectors(store, "fan.md")
    return [hit.id for hit in hiding.search("chunks", vector=(), text="", limit=limit)]


def test_chunks_of_the_page_are_not_found_and_others_come_in_their_place():
    store = Store(chunk_hit("a", "fan.md", 0.9), chunk_hit("b", "bgp.md", 0.2))
    assert search(store, 1) == ["b"]
    assert store.limits[0] > 1


def test_as_many_are_found_as_without_the_page():
    hits = [chunk_hit(str(n), "bgp.md", dense=n / 10, sparse=0.0) for n in range(5)]
    worded = chunk_hit("words", "bgp.md", dense=-0.5, sparse=3.0)
    assert sorted(search(Store(*hits, worded), 2)) == ["3", "4", "words"]


def test_nodes_of_the_page_are_not_found():
    hit = Hit(id="n", payload=node_payload(node("fan.md")), dense_score=1.0, sparse_score=1.0)
    assert search(Store(hit), 5) == []


def test_a_node_keeps_what_other_pages_know_of_it():
    graph = HidingGraph(Store(), "fan.md")
    (left,) = graph.get(["fan.md", "both"])
    assert left.document_ids == ("bgp.md",)
    assert graph.find_names(["x"]) == {"session": ["both"]}
    assert [kept_node.id for kept_node in graph.of_documents(["fan.md", "bgp.md"])] == ["bgp.md"]


def test_the_document_is_not_there():
    documents = HidingDocuments(Store(), "fan.md")
    assert documents.get("fan.md") is None
    assert documents.get("bgp.md") is not None
    assert list(documents.get_many(["fan.md", "bgp.md"])) == ["bgp.md"]
    assert documents.ids_with(["fan"]) == ["bgp.md"]
