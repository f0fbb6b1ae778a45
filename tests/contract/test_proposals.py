"""Proposed pages on each database: kept once, decided once, listed, shown to hold."""

from datetime import UTC, datetime

import pytest

from services.contracts.proposals import Acceptance, Dismissal, ProposalState, Validation
from services.ingestion.proposals.service import DecidedProposalError, ProposalService
from services.ingestion.settings import IngestionSettings
from services.kit.access.caller import acting_as
from services.kit.queue.outbox import Outbox
from tests.contract.databases import database_of
from tests.unit.ingestion.proposing import APPROVER, OTHER, TEXT, page


@pytest.fixture(params=["sqlite", "postgres"])
def proposals(request):
    with database_of(request.param) as database:
        yield ProposalService(database, Outbox(database), IngestionSettings())


def test_a_page_is_kept_once_and_decided_once(proposals):
    proposal = proposals.propose(page())
    assert proposals.propose(page(title="Other")) == proposal
    acceptance = Acceptance(text_hash=proposal.text_hash)
    with acting_as(APPROVER):
        taken = proposals.accept(proposal.id, acceptance)
    with acting_as(OTHER), pytest.raises(DecidedProposalError):
        proposals.accept(proposal.id, acceptance)
    assert taken == proposals.proposal(proposal.id)
    assert taken.reading == proposal.reading
    validation = Validation(
        document_ids=(proposal.document_id, "a\0b"), run_id="r\0", at=datetime.now(UTC)
    )
    proposals.validate(validation)
    proposals.expire()
    current = proposals.proposal(proposal.id)
    assert current.expires_at > taken.expires_at
    with acting_as(OTHER):
        gone = proposals.withdraw(proposal.id, Dismissal(why="not\0 so"))
    assert (gone.state, gone.why) == (ProposalState.WITHDRAWN, "not  so")


def test_the_latest_come_first(proposals):
    ids = [proposals.propose(page(key=f"k{n}", title="\0ü 漢")).id for n in range(3)]
    assert [each.id for each in proposals.proposals()] == ids[::-1]
    assert proposals.proposals(ProposalState.ACCEPTED) == []
    assert all(each.document_id.startswith("learned/u-") for each in proposals.proposals())
    assert proposals.proposal(ids[0]).text == TEXT
