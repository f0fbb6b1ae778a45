"""Summaries over HTTP: the client and the routes say the same, and a refusal has its status."""

from datetime import UTC, datetime

import httpx
import pytest
from fastapi.testclient import TestClient

from services.contracts.summaries import (
    SummariesClient,
    SummaryReport,
    SummaryRequest,
    SummaryState,
)
from services.executor.app import create_app
from services.investigation.summary.service import NothingDoneError
from services.investigation.summary.store import NotProposableError, SummaryNotFoundError
from services.kit.errors import ConflictError
from services.kit.http.client import ServiceClient
from services.kit.settings import PlatformSettings

REPORT = SummaryReport(
    key="k", title="Down", state=SummaryState.LEARNED, traces=3, by="ann", at=datetime.now(UTC)
)


class Summaries:
    def __init__(self):
        self.requests = []

    def summarise(self, request):
        self.requests.append(request)
        if request.run_ids == ("open",):
            raise NothingDoneError("the run open is not over")
        return REPORT

    def summary(self, key):
        if key != "k":
            raise SummaryNotFoundError("none")
        return REPORT

    def propose(self, key):
        raise NotProposableError("nothing was learned")


@pytest.fixture
def client():
    app = create_app(
        PlatformSettings(_env_file=None), service=None, searching=None, summaries=Summaries()
    )
    with TestClient(app, base_url="http://127.0.0.1") as opened:
        yield opened


def test_the_client_gets_what_the_service_says(client):
    def pass_on(request):
        headers = {"content-type": request.headers.get("content-type", "")}
        response = client.request(
            request.method, request.url.path, content=request.content, headers=headers
        )
        return httpx.Response(
            response.status_code, content=response.content, headers=response.headers
        )

    passed = httpx.MockTransport(pass_on)
    service = SummariesClient(ServiceClient("http://127.0.0.1", transport=passed))
    assert service.summarise(SummaryRequest(run_ids=("r",), title="Down")) == REPORT
    assert service.summary("k") == REPORT
    with pytest.raises(ConflictError):
        service.propose("k")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("post", "/v1/summaries", {"run_ids": ["r"], "title": "Down"}, 201),
        ("post", "/v1/summaries", {"run_ids": ["open"], "title": "Down"}, 409),
        ("post", "/v1/summaries", {"title": "Down"}, 422),
        ("post", "/v1/summaries", {"run_ids": ["r"], "title": ""}, 422),
        ("get", "/v1/summaries/none", None, 404),
        ("post", "/v1/summaries/k/proposal", {}, 409),
    ],
)
def test_a_refusal_has_its_status(client, method, path, body, status):
    more = {} if body is None else {"json": body}
    assert getattr(client, method)(path, **more).status_code == status
