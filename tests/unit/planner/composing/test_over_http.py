import pytest
from fastapi.testclient import TestClient

from services.contracts.composing import ComposeRequest, CompositionProposal, CompositionsClient
from services.kit.errors import ConflictError, InvalidInputError
from services.kit.http.client import ServiceClient
from services.kit.settings import PlatformSettings
from services.planner.app import create_app
from tests.unit.planner.composing.catalogue import composer

INSTRUCTION = "Clear the BGP session with neighbor 10.0.0.7"


@pytest.fixture
def composing(monkeypatch):
    app = create_app(PlatformSettings(_env_file=None), composing=composer())
    client = ServiceClient("http://127.0.0.1")
    monkeypatch.setattr(client, "_client", TestClient(app, base_url="http://127.0.0.1"))
    return CompositionsClient(client)


def test_a_draft_comes_and_goes_over_http(composing):
    draft = composing.compose(ComposeRequest(instruction=INSTRUCTION))
    assert draft == composer().compose(ComposeRequest(instruction=INSTRUCTION))
    assert composing.page(CompositionProposal(draft=draft)).title == draft.title


def test_refusals_keep_their_class(composing):
    with pytest.raises(ConflictError, match="language"):
        composing.compose(ComposeRequest(instruction="If it is idle, clear the session"))
    with pytest.raises(InvalidInputError):
        composing.compose(ComposeRequest())
