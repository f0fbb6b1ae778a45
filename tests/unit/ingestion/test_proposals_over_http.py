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
def client(harness):
    service = harness.service
    app = create_app(
        PlatformSettings(),
        service=service,
        syncs=None,
        readings=lambda caller: service.readings(caller.name),
        proposals=proposals_of(harness),
    )
    with TestClient(app, base_url="http://127.0.0.1") as http:
        over_http = ServiceClient("http://127.0.0.1")
        over_http._client = http
        yield ProposalsClient(over_http)


def test_it_is_the_same_over_http(harness, client):
    proposal = client.propose(page())
    here = proposals_of(harness)
    assert client.proposal(proposal.id) == here.proposal(proposal.id)
    assert client.proposals(ProposalState.PROPOSED) == here.proposals()
    assert client.proposals(ProposalState.EXPIRED) == []
    with pytest.raises(InvalidInputError, match="does not say any more"):
        client.accept(
            proposal.id,
            Acceptance(text=TEXT.replace("valve", "x")[:150], text_hash=proposal.text_hash),
        )
    taken = client.accept(proposal.id, Acceptance(text_hash=proposal.text_hash))
    assert (taken.state, taken.decided_by) == (ProposalState.ACCEPTED, "local")
    work(harness)
    now = datetime.now(UTC)
    client.validate(Validation(document_ids=(proposal.document_id,), run_id="r", at=now))
    assert client.proposal(proposal.id).validated_at is not None
    with pytest.raises(ConflictError):
        client.reject(proposal.id, Dismissal())
    assert client.withdraw(proposal.id, Dismissal(why="no")).state is ProposalState.WITHDRAWN
    with pytest.raises(NotFoundError):
        client.proposal("none")
    with pytest.raises(InvalidInputError):
        client.propose(page(key="other", text="# Nothing\n"))


@pytest.mark.parametrize("id_", ["a\0b", "\ud800", "../x", "x" * 200])
def test_an_id_that_cannot_be_is_not_found(harness, id_):
    with pytest.raises(NotFoundError):
        proposals_of(harness).proposal(id_)
