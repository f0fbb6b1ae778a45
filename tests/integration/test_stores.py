"""The stores that settings choose answer as the embedded ones do, for the whole platform."""

import json
from pathlib import Path

import pytest

from services.contracts.retrieval import RetrieveRequest
from services.deployment.embedded import Embedded
from services.kit.settings import PlatformSettings
from services.knowledge.embedding.onnx_embedder import OnnxEmbedder
from services.knowledge.stores.neo4j import Neo4jGraphStore
from services.knowledge.stores.pgvector import PgVectorStore
from tests.contract.graphs import graph_server
from tests.postgres import pgvector_url

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with graph_server(tmp_path_factory.mktemp("graph")) as running:
        running.empty()
        yield running


def retrieved_ids(platform: Embedded) -> list[list[str]]:
    """What is retrieved for each example ticket: ids, best first."""
    bodies = [json.loads(path.read_text()) for path in sorted(EXAMPLES.glob("alerts/generic/*"))]
    contexts = [
        platform.retrieval.retrieve(
            RetrieveRequest(title=body["title"], description=body.get("description", ""))
        )
        for body in bodies
    ]
    return [[match.node.id for match in context.nodes] for context in contexts]


def test_on_neo4j_and_onnxruntime_the_same_nodes_are_retrieved(tmp_path, server):
    first = PlatformSettings(_env_file=None, data_dir=tmp_path)
    with Embedded(first) as platform:
        platform.ingestion.ingest_here(EXAMPLES / "documents" / "runbooks")
        platform.ingestion.ingest_here(EXAMPLES / "documents" / "notes")
        expected, count = retrieved_ids(platform), platform.graph.count()
    moved = PlatformSettings(
        _env_file=None,
        data_dir=tmp_path,
        neo4j_url=server.url,
        neo4j_user=server.user,
        neo4j_password=server.password,
        embedder="onnx",
    )
    with Embedded(moved) as platform:
        assert isinstance(platform.graph._store, Neo4jGraphStore)
        assert isinstance(platform._stores.query_embedder, OnnxEmbedder)
        assert platform.graph.count() == 0
        assert platform.ingestion.reindex() == 5
        assert platform.graph.count() == count > 0
        assert retrieved_ids(platform) == expected
        assert any(expected)


def test_on_vectors_in_postgres_the_same_nodes_are_retrieved(tmp_path):
    with Embedded(PlatformSettings(_env_file=None, data_dir=tmp_path / "alone")) as platform:
        platform.ingestion.ingest_here(EXAMPLES / "documents" / "runbooks")
        expected = retrieved_ids(platform)
    moved = PlatformSettings(
        _env_file=None,
        data_dir=tmp_path / "moved",
        database_url=pgvector_url(),
        vectors="pgvector",
    )
    with Embedded(moved) as platform:
        assert isinstance(platform.vectors._store, PgVectorStore)
        platform.ingestion.ingest_here(EXAMPLES / "documents" / "runbooks")
        assert retrieved_ids(platform) == expected
        counts = platform.vectors.count("chunks"), platform.vectors.count("nodes")
        assert platform.ingestion.reindex() > 0
        assert (platform.vectors.count("chunks"), platform.vectors.count("nodes")) == counts
        assert retrieved_ids(platform) == expected
        assert any(expected)
