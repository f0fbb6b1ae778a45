"""The drawing of what is around an incident."""

from xml.etree import ElementTree as ET

from services.contracts.retrieval import Link, NodeSummary, NodeSurroundings
from services.knowledge.model import IncidentNode
from services.web.ui.knowledge.graph import columns_of, draw_surroundings

EVIL = '<script>"&\x01'


def surroundings(*links, around=("b", "c", "d")):
    return NodeSurroundings(
        node=IncidentNode(id="a", name=EVIL),
        around=tuple(NodeSummary(id=id_, name=f"{id_} {EVIL}") for id_ in around),
        links=tuple(Link(source=source, target=target) for source, target in links),
    )


def test_columns_tell_how_many_links_lead_there_and_the_last_has_those_without():
    graph = surroundings(("a", "b"), ("b", "c"), ("c", "a"))
    columns = [[node.id for node in column] for column in columns_of(graph)]
    assert columns == [["a"], ["b"], ["c"], ["d"]]


def test_every_text_is_escaped_and_every_incident_a_link():
    svg = ET.fromstring(draw_surroundings(surroundings(("a", "b"), ("c", "b"))))
    namespace = "{http://www.w3.org/2000/svg}"
    assert [link.get("href") for link in svg.iter(f"{namespace}a")] == [
        f"/knowledge/incidents/{id_}" for id_ in "abcd"
    ]
    assert len(list(svg.iter(f"{namespace}path"))) == 2
    assert svg.find(f".//{namespace}script") is None


def test_an_incident_alone_is_drawn_alone():
    svg = ET.fromstring(draw_surroundings(surroundings(around=())))
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}a"))) == 1
