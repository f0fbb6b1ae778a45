"""An incident with what is around it, over HTTP, and drawn."""

import re

import pytest
from fastapi.testclient import TestClient

from services.contracts.retrieval import NodeQuery, RetrievalClient
from services.kit.errors import NotFoundError
from services.kit.http.client import ServiceClient
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import IncidentNode, Passage, SectionRole, Span
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.retrieval import surroundings
from services.retrieval.app import create_app
from services.retrieval.service import RetrievalService


def node(id_, document, *, links=()):
    span = Span(document_id=document, start_line=2, end_line=3)
    passage = Passage(span=span, role=SectionRole.REMEDY, heading_path=(id_,), text="Do it.")
    return IncidentNode(
        id=id_, name=f"{id_} fails", mitigation_steps=(passage,), linked_documents=links
    )


@pytest.fixture
def client():
    """Fan leads to power, power to rack; beside tells of the fan's page too."""
    database = Database.memory()
    database.migrate("knowledge")
    graph = SqlGraphStore(database)
    fan = node("fan", "fan.md", links=("power.md",))
    graph.replace_document("fan.md", [fan, node("beside", "fan.md")])
    graph.replace_document("power.md", [node("power", "power.md", links=("rack.md",))])
    graph.replace_document("rack.md", [node("rack", "rack.md", links=("fan.md",))])
    service = RetrievalService(None, graph, None, HashingEmbedder())
    app = create_app(PlatformSettings(), service=service)
    with TestClient(app, base_url="http://127.0.0.1") as http:
        over_http = ServiceClient("http://127.0.0.1")
        over_http._client = http
        yield RetrievalClient(over_http)
    database.close()


@pytest.mark.parametrize(
    ("hops", "around", "links"),
    [
        (1, ["power", "beside"], [("fan", "power")]),
        (
            2,
            ["power", "rack", "beside"],
            [("fan", "power"), ("power", "rack"), ("rack", "fan"), ("rack", "beside")],
        ),
    ],
)
def test_what_is_linked_comes_first_then_others_of_its_pages(client, hops, around, links):
    neighbourhood = client.surroundings("fan", hops=hops)
    assert [each.id for each in neighbourhood.around] == around
    assert [(each.source, each.target) for each in neighbourhood.links] == links
    assert neighbourhood.node.mitigation_steps[0].text == "Do it."


def test_more_than_can_be_drawn_is_counted(client, monkeypatch):
    monkeypatch.setattr(surroundings, "MOST_AROUND", 1)
    neighbourhood = client.surroundings("fan")
    assert ([each.id for each in neighbourhood.around], neighbourhood.left_out) == (["power"], 1)


def test_nodes_are_listed_and_an_unknown_one_is_not_found(client):
    assert [each.id for each in client.nodes(NodeQuery(text="FAN"))] == ["fan"]
    assert [each.id for each in client.nodes(NodeQuery(start=1, limit=2))] == ["fan", "power"]
    with pytest.raises(NotFoundError, match=re.escape("'nobody'")):
        client.surroundings("nobody")
