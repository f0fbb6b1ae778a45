import pytest
from fastapi.testclient import TestClient

from services.contracts.planner import Candidate
from services.contracts.scorer import ScoreRequest, ScoreResponse
from services.kit.settings import PlatformSettings
from services.knowledge.embedding.embedders import HashingEmbedder
from services.scorer.app import create_app
from services.scorer.service import ScorerService
from tests.unit.scorer.cases import CONTEXT, GOOD, TICKET


def client() -> TestClient:
    app = create_app(PlatformSettings(), service=ScorerService(HashingEmbedder()))
    return TestClient(app, base_url="http://127.0.0.1")


def test_scores_come_back_over_http_as_they_are_in_process():
    request = ScoreRequest(
        ticket=TICKET, context=CONTEXT, candidates=(Candidate(id="a", workflow=GOOD),)
    )
    response = client().post("/v1/scores", json=request.model_dump(mode="json"))
    assert response.status_code == 200
    expected = ScorerService(HashingEmbedder()).score(request)
    assert ScoreResponse.model_validate(response.json()) == expected


def test_a_request_of_another_shape_is_refused():
    assert client().post("/v1/scores", json={"ticket": 3}).status_code == 422


@pytest.mark.parametrize("confidence", [-1.0, 2.0, -2.87e33])
def test_a_confidence_that_is_no_share_is_refused(confidence: float):
    request = ScoreRequest(
        ticket=TICKET, context=CONTEXT, candidates=(Candidate(id="a", workflow=GOOD),)
    ).model_dump(mode="json")
    request["context"]["confidence"] = confidence
    assert client().post("/v1/scores", json=request).status_code == 422
