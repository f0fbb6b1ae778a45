"""Every adapter of `GraphStore` passes this suite."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from services.knowledge.model import Case, IncidentNode, Passage, SectionRole, Span
from services.knowledge.ports import StoreUnavailableError
from services.knowledge.stores.neo4j import Neo4jGraphStore
from services.knowledge.stores.neo4j_migrations import GRAPH_ID, MIGRATIONS
from services.knowledge.stores.sql_graph import SqlGraphStore
from tests.contract.databases import database_of
from tests.contract.graphs import graph_server


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with graph_server(tmp_path_factory.mktemp("graph")) as running:
        yield running


@pytest.fixture
def neo4j(server):
    server.empty()
    store = Neo4jGraphStore.connect(server.url, server.user, server.password)
    yield store
    store.close()


@pytest.fixture(params=["sqlite", "postgresql", "neo4j"])
def graph(request):
    if request.param == "neo4j":
        yield request.getfixturevalue("neo4j")
        return
    with database_of(request.param) as database:
        yield SqlGraphStore(database)


def passage(document, text, line=1, role=SectionRole.REMEDY):
    span = Span(document_id=document, start_line=line, end_line=line)
    return Passage(span=span, role=role, heading_path=("Fan",), text=text)


def node(id_, document, *steps, name="Fan failed", **fields):
    passages = tuple(passage(document, step, line + 1) for line, step in enumerate(steps))
    return IncidentNode(id=id_, name=name, mitigation_steps=passages, **fields)


def test_an_empty_graph_knows_nothing(graph):
    assert graph.count() == 0
    assert graph.get(["fan"]) == []
    assert graph.of_documents(["a.md"]) == []
    assert graph.find_names(["fan"]) == {}
    assert graph.neighbours("fan") == []


def test_a_node_comes_back_as_it_was_written(graph):
    written = node("fan", "a.md", "Reseat the tray.", aliases=("FanFail",), summary="A fan stops.")
    assert graph.replace_document("a.md", [written]) == {"fan"}
    assert graph.get(["nobody", "fan"]) == [written]


def test_the_same_document_again_changes_nothing(graph):
    nodes = [node("fan", "a.md", "Reseat."), node("psu", "a.md", "Swap.", name="PSU")]
    assert graph.replace_document("a.md", nodes) == {"fan", "psu"}
    assert graph.replace_document("a.md", nodes) == set()


def test_nodes_of_the_same_incident_merge_over_documents(graph):
    graph.replace_document("a.md", [node("fan", "a.md", "Reseat.", "Replace.", aliases=("X",))])
    changed = graph.replace_document(
        "b.md",
        [node("fan", "b.md", "Replace.", "Call the vendor.", name="FAN_FAILED", aliases=("Y",))],
    )
    (merged,) = graph.get(["fan"])
    assert changed == {"fan"}
    assert [p.text for p in merged.mitigation_steps] == ["Reseat.", "Replace.", "Call the vendor."]
    assert merged.document_ids == ("a.md", "b.md")
    assert merged.name == "Fan failed"
    assert merged.aliases == ("X", "FAN_FAILED", "Y")


def test_two_nodes_of_one_incident_in_one_document_merge_too(graph):
    graph.replace_document("a.md", [node("fan", "a.md", "One."), node("fan", "a.md", "Two.")])
    assert [p.text for p in graph.get(["fan"])[0].mitigation_steps] == ["One.", "Two."]
    assert graph.count() == 1


def test_replacing_a_document_leaves_the_parts_of_others(graph):
    graph.replace_document("a.md", [node("fan", "a.md", "Old."), node("psu", "a.md", "Swap.")])
    graph.replace_document("b.md", [node("fan", "b.md", "Theirs.")])
    assert graph.replace_document("a.md", [node("fan", "a.md", "New.")]) == {"fan", "psu"}
    assert [p.text for p in graph.get(["fan"])[0].mitigation_steps] == ["New.", "Theirs."]
    assert graph.get(["psu"]) == []


def test_a_deleted_document_takes_its_nodes_names_and_links_along(graph):
    linked = node("fan", "a.md", "Reseat.", linked_documents=("b.md",))
    graph.replace_document("a.md", [linked])
    graph.replace_document("b.md", [node("psu", "b.md", "Swap.", name="PSU")])
    assert graph.delete_document("a.md") == {"fan"}
    assert graph.delete_document("nobody.md") == set()
    assert graph.find_names(["Fan failed"]) == {}
    assert graph.neighbours("fan") == []
    assert graph.count() == 1


def test_names_and_aliases_are_found_whatever_their_spelling(graph):
    graph.replace_document("a.md", [node("fan", "a.md", "Reseat.", aliases=("FAN-3 fail!",))])
    matches = graph.find_names(["fan_failed", "Fan3Fail", "psu", "…"])
    assert matches == {"fan_failed": ["fan"], "Fan3Fail": ["fan"]}


def test_nodes_of_documents_come_in_the_order_of_the_documents(graph):
    graph.replace_document(
        "a.md", [node("z", "a.md", "1", name="Z"), node("y", "a.md", "2", name="Y")]
    )
    graph.replace_document(
        "b.md", [node("x", "b.md", "3", name="X"), node("y", "b.md", "4", name="Y")]
    )
    assert [n.id for n in graph.of_documents(["b.md", "a.md", "c.md"])] == ["x", "y", "z"]


def test_neighbours_are_reached_over_links_nearest_first(graph):
    for name, link in (("a", "b.md"), ("b", "c.md"), ("c", "a.md")):
        document = f"{name}.md"
        graph.replace_document(
            document, [node(name, document, "Step.", name=name, linked_documents=(link,))]
        )
    assert graph.neighbours("a") == ["b"]
    assert graph.neighbours("a", hops=2) == ["b", "c"]
    assert graph.neighbours("a", hops=9) == ["b", "c"]


def test_more_ids_than_one_statement_takes_are_all_answered(graph):
    nodes = [node(f"n{i}", "a.md", f"Step {i}.", name=f"Name {i}") for i in range(1200)]
    assert len(graph.replace_document("a.md", nodes)) == 1200
    ids = [n.id for n in nodes]
    assert [n.id for n in graph.get(ids)] == ids
    assert len(graph.find_names([n.name for n in nodes])) == 1200


def test_eight_threads_writing_to_one_node_lose_nothing(graph):
    def work(thread):
        for i in range(5):
            document = f"{thread}-{i}.md"
            graph.replace_document(document, [node("fan", document, f"Step {document}")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(graph.get(["fan"])[0].mitigation_steps) == 40


def test_two_processes_writing_to_one_node_lose_nothing(neo4j, server):
    other = Neo4jGraphStore.connect(server.url, server.user, server.password)

    def work(store, name):
        for i in range(6):
            document = f"{name}-{i}.md"
            store.replace_document(document, [node("fan", document, f"Step {document}")])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (neo4j, other), ("a", "b")))
    other.close()
    assert len(neo4j.get(["fan"])[0].mitigation_steps) == 12


def test_a_graph_of_a_deleted_document_leaves_nothing_on_the_server(neo4j, server):
    neo4j.replace_document("a.md", [node("fan", "a.md", "Reseat.", linked_documents=("b.md",))])
    neo4j.delete_document("a.md")
    with server.driver() as driver:
        (row,) = driver.execute_query("MATCH (n) RETURN count(n) AS held").records
    assert row["held"] == 1, "only the node that holds the version"


def test_stores_that_open_an_empty_server_at_once_agree_on_its_version(server):
    server.empty()

    def work(_):
        Neo4jGraphStore.connect(server.url, server.user, server.password).close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    with server.driver() as driver:
        rows = driver.execute_query("MATCH (g:FlowXpertGraph) RETURN g.version AS v").records
    assert [row["v"] for row in rows] == [len(MIGRATIONS)]


def test_a_graph_of_a_newer_version_is_refused(neo4j, server):
    with server.driver() as driver:
        driver.execute_query("MATCH (g:FlowXpertGraph {id: $id}) SET g.version = 99", id=GRAPH_ID)
    with pytest.raises(StoreUnavailableError, match="version 99"):
        Neo4jGraphStore.connect(server.url, server.user, server.password)


@pytest.mark.parametrize("url", ["bolt://127.0.0.1:1", "not an address"])
def test_a_server_that_does_not_answer_is_unavailable(url):
    with pytest.raises(StoreUnavailableError):
        Neo4jGraphStore.connect(url, "neo4j", "secret")


def test_a_wrong_password_is_told_as_unavailable(server):
    with pytest.raises(StoreUnavailableError):
        Neo4jGraphStore.connect(server.url, server.user, "wrong")


def case(id_, team, at, **entities):
    return Case(id=id_, text=f"Text of {id_}.", team=team, at=at, entities=entities)


def test_a_graph_without_past_tickets_has_none(graph):
    assert graph.cases(10) == []
    assert graph.cases_state() == graph.cases_state() == ""


def test_past_tickets_come_back_oldest_first_and_only_the_newest(graph):
    old, middle, new = case("a", "net", 1.0, bgp=2), case("b", "db", 2.0), case("c", "net", 3.0)
    graph.put_cases([new, old])
    graph.put_cases([middle])
    assert graph.cases(10) == [old, middle, new]
    assert graph.cases(2) == [middle, new]


def test_a_past_ticket_is_replaced_with_all_that_it_mentions(graph):
    graph.put_cases([case("a", "net", 1.0, bgp=1, peer=1), case("b", "net", 2.0, peer=3)])
    before = graph.cases_state()
    graph.put_cases([case("a", "db", 1.0, lock=2)])
    assert graph.cases(10) == [case("a", "db", 1.0, lock=2), case("b", "net", 2.0, peer=3)]
    assert graph.cases_state() != before


def test_past_tickets_are_no_incidents(graph):
    graph.put_cases([case("a", "net", 1.0, fan=1)])
    assert graph.count() == 0
    assert graph.find_names(["fan"]) == {}


def test_nodes_are_searched_by_parts_of_their_names(graph):
    graph.replace_document(
        "a.md",
        [
            node("1", "a.md", "x", name="Fan failed", aliases=("FAN_3 dead",)),
            node("2", "a.md", "y", name="Big fan hums"),
            node("3", "a.md", "z", name="PSU"),
        ],
    )
    assert [each.id for each in graph.search("FAN")] == ["2", "1"]
    assert [each.id for each in graph.search("3 DEAD")] == ["1"]
    assert [each.id for each in graph.search()] == ["2", "1", "3"]
    assert [each.id for each in graph.search("…", start=1, limit=1)] == ["1"]
    assert graph.search("nobody") == []
