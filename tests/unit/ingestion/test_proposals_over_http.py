"""Proposed pages over HTTP, as another process asks."""

from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient

from services.contracts.proposals import (
    Acceptance,
    Dismissal,
    ProposalsClient,
    ProposalState,
    Validation,
)
from services.ingestion.app import create_app
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError
from services.kit.http.client import ServiceClient
from services.kit.settings import PlatformSettings
from tests.unit.ingestion.proposing import TEXT, page, proposals_of, work


@pytest.fixture
def client(stand):
    service = stand.service
    app = create_app(
        PlatformSettings(),
        service=service,
        syncs=None,
        readings=lambda caller: service.readings(caller.name),
        proposals=proposals_of(stand),
    )
    with TestClient(app, base_url="http://127.0.0.1") as http:
        over_http = ServiceClient("http://127.0.0.1")
        over_http._client = http
        yield ProposalsClient(over_http)


def test_it_is_the_same_over_http(stand, client):
    found = client.propose(page())
    here = proposals_of(stand)
    assert client.proposal(found.id) == here.proposal(found.id)
    assert client.proposals(ProposalState.PROPOSED) == here.proposals()
    assert client.proposals(ProposalState.EXPIRED) == []
    with pytest.raises(InvalidInputError, match="does not say any more"):
        client.accept(
            found.id, Acceptance(text=TEXT.replace("valve", "x")[:150], text_hash=found.text_hash)
        )
    taken = client.accept(found.id, Acceptance(text_hash=found.text_hash))
    assert (taken.state, taken.decided_by) == (ProposalState.ACCEPTED, "local")
    work(stand)
    now = datetime.now(UTC)
    client.validate(Validation(document_ids=(found.document_id,), run_id="r", at=now))
    assert client.proposal(found.id).validated_at is not None
    with pytest.raises(ConflictError):
        client.reject(found.id, Dismissal())
    assert client.withdraw(found.id, Dismissal(why="no")).state is ProposalState.WITHDRAWN
    with pytest.raises(NotFoundError):
        client.proposal("none")
    with pytest.raises(InvalidInputError):
        client.propose(page(key="other", text="# Nothing\n"))


@pytest.mark.parametrize("given", ["a\0b", "\ud800", "../x", "x" * 200])
def test_an_id_that_cannot_be_is_not_found(stand, given):
    with pytest.raises(NotFoundError):
        proposals_of(stand).proposal(given)
