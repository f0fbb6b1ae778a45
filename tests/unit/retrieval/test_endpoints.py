import pytest
from fastapi.testclient import TestClient

from services.contracts.retrieval import (
    RetrievalClient,
    RetrievedContext,
    RetrieveRequest,
    SourceText,
)
from services.kit.http.client import ServiceClient
from services.kit.settings import PlatformSettings
from services.knowledge.model import Chunk, RetrievedChunk, Span
from services.knowledge.ports import DocumentNotFoundError
from services.retrieval.app import create_app

SPAN = Span(document_id="a b/fan ü.md", start_line=3, end_line=4)
CHUNK = Chunk(id="c", span=SPAN, heading_path=("Fan",), text="Reseat.")


class FanRetrieval:
    """Retrieval that knows one chunk."""

    def retrieve(self, request):
        hit = RetrievedChunk(chunk=CHUNK, score=0.5, reasons=("close",))
        return RetrievedContext(chunks=(hit,)[: "fan" in request.title])

    def source(self, span):
        if span != SPAN:
            raise DocumentNotFoundError(span.document_id)
        return SourceText(span=span, document_title="Fan", text="Reseat.")


@pytest.fixture
def http():
    app = create_app(PlatformSettings(), service=FanRetrieval())
    return TestClient(app, base_url="http://127.0.0.1")


@pytest.fixture
def client(http):
    service = ServiceClient("http://testserver")
    service._client = http
    return RetrievalClient(service)


def test_the_client_speaks_the_contract(client):
    context = client.retrieve(RetrieveRequest(title="fan"))
    assert context == FanRetrieval().retrieve(RetrieveRequest(title="fan"))


def test_a_span_travels_whatever_its_document_is_called(client):
    assert client.source(SPAN) == FanRetrieval().source(SPAN)


def test_an_unknown_document_comes_back_as_not_found(client):
    with pytest.raises(DocumentNotFoundError):
        client.source(SPAN.model_copy(update={"document_id": "b.md"}))


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"title": 5}', 422),
        (b'{"top_chunks": 0}', 422),
        (b'{"top_nodes": 1000}', 422),
        (b"not json", 400),
        (b'{"title": "\\ud800 fan", "labels": {"a": "\\u0000"}}', 200),
    ],
)
def test_bad_requests_are_answered_clearly(http, body, status):
    headers = {"content-type": "application/json"}
    assert http.post("/v1/retrievals", content=body, headers=headers).status_code == status


@pytest.mark.parametrize("lines", [(5, 4), (0, 4), (1, 10**9)])
def test_lines_that_cannot_be_are_refused(http, lines):
    answer = http.get("/v1/sources/a.md", params={"start_line": lines[0], "end_line": lines[1]})
    assert answer.status_code == 422
