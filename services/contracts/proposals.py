"""Proposed pages: written from what was done or composed, used once a person has accepted them."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol
from urllib.parse import quote

from pydantic import Field

from services.contracts.readings import GivenReading, ShortReading
from services.kit.http.client import ServiceClient
from services.kit.value import Value

ACCEPTED_PAGES = "accepted pages"
"""Root of the documents that were proposed and accepted: no folder, so that nothing moves it."""


class ProposalOrigin(StrEnum):
    """What a page was written from."""

    LEARNED = "learned"
    """From what was done about tickets."""
    COMPOSED = "composed"
    """From a sentence that somebody wrote."""


class ProposalState(StrEnum):
    """Where a proposed page stands."""

    PROPOSED = "proposed"
    """Nobody has decided; no ticket finds it."""
    ACCEPTED = "accepted"
    """It is a document like others, its reading approved."""
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    """It was accepted, and somebody took it out again."""
    EXPIRED = "expired"
    """It was accepted, and no run has shown for too long that it still holds."""


class SourceRun(Value):
    """One time that a page was written from: what was done about a ticket."""

    ticket_id: str = Field(max_length=200)
    ticket_title: str = Field(default="", max_length=1000)
    run_id: str = Field(default="", max_length=200)
    """The run in which something was done; empty of a search alone."""
    outcome: str = Field(default="", max_length=40)
    at: datetime


class ProposedPage(Value):
    """A page that somebody is to look at."""

    key: str = Field(min_length=1, max_length=200)
    """Names it for whoever proposes it: the same key again is the same proposal."""
    title: str = Field(min_length=1, max_length=300)
    text: str = Field(min_length=1, max_length=200_000)
    """Markdown; the reading cites its lines."""
    reading: GivenReading
    origin: ProposalOrigin
    runs: tuple[SourceRun, ...] = Field(default=(), max_length=200)
    proposed_by: str = Field(default="", max_length=200)
    """Who had it written, several with `and` between them; empty: the platform. None of them
    accepts it."""


class ProposalSummary(Value):
    """A proposed page in a list."""

    id: str
    title: str
    document_id: str
    """What it is, or would be, called among documents: `learned/NAME.md`."""
    origin: ProposalOrigin
    state: ProposalState
    learned_from: int
    """Runs; 1: one path was seen."""
    proposed_by: str
    proposed_at: datetime
    decided_by: str = ""
    decided_at: datetime | None = None
    validated_at: datetime | None = None
    """When a run last showed that it holds."""
    expires_at: datetime | None = None
    """Of an accepted one, unless a run shows that it holds before."""


class ProposalDetail(ProposalSummary):
    """A proposed page with all of it."""

    text: str
    text_hash: str
    reading: ShortReading
    runs: tuple[SourceRun, ...]
    original: str = ""
    """The text as it was proposed, where whoever accepted it had edited it."""
    why: str = ""
    """Why it was rejected or withdrawn."""


class Acceptance(Value):
    """Somebody vouches for a proposed page."""

    text: str = Field(default="", max_length=200_000)
    """As they edited it; empty: as it was proposed. What cannot be found in it again is refused."""
    text_hash: str = Field(max_length=64)
    """Of the text that they saw."""


class Dismissal(Value):
    """Somebody takes a proposed or accepted page away."""

    why: str = Field(default="", max_length=2000)


class Validation(Value):
    """A run has carried out what accepted pages say, and it helped."""

    document_ids: tuple[str, ...] = Field(max_length=50)
    run_id: str = Field(max_length=200)
    at: datetime


class Proposals(Protocol):
    """Proposed pages; whoever calls is the current caller."""

    def propose(self, page: ProposedPage) -> ProposalDetail:
        """Keep it for somebody to look at; the same key again gives what is there.

        Raises:
            InvalidInputError: The reading is not of the text, or instructs whoever reads it.
            ForbiddenError: It is said to be learned, and a person or their key proposes it.
        """

    def proposals(self, state: ProposalState | None = None) -> list[ProposalSummary]:
        """Those in a state, or all, the latest first; 200 at most."""

    def proposal(self, proposal_id: str) -> ProposalDetail:
        """Raises `NotFoundError`."""

    def accept(self, proposal_id: str, acceptance: Acceptance) -> ProposalDetail:
        """Make it a document whose reading is approved by the caller; a person, never its author.

        Raises:
            NotFoundError: No such proposal.
            ConflictError: It was decided before, or has changed since the caller saw it.
            InvalidInputError: The edited text does not say any more what the reading says.
            ForbiddenError: The caller may not vouch for it.
        """

    def reject(self, proposal_id: str, dismissal: Dismissal) -> ProposalDetail:
        """Decide against it for good. Raises `NotFoundError`, `ConflictError`."""

    def withdraw(self, proposal_id: str, dismissal: Dismissal) -> ProposalDetail:
        """Take an accepted one out of the documents. Raises `NotFoundError`, `ConflictError`."""

    def validate(self, validation: Validation) -> None:
        """A run has shown that these pages hold; unknown documents are ignored."""


class ProposalsClient:
    """`Proposals` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def propose(self, page: ProposedPage) -> ProposalDetail:
        """See `Proposals.propose`."""
        return ProposalDetail.model_validate(self._client.post("/v1/proposals", page))

    def proposals(self, state: ProposalState | None = None) -> list[ProposalSummary]:
        """See `Proposals.proposals`."""
        asked = {"state": state.value} if state else {}
        found = self._client.get("/v1/proposals", **asked)
        return [ProposalSummary.model_validate(each) for each in found]

    def proposal(self, proposal_id: str) -> ProposalDetail:
        """See `Proposals.proposal`."""
        return ProposalDetail.model_validate(self._client.get(_path(proposal_id)))

    def accept(self, proposal_id: str, acceptance: Acceptance) -> ProposalDetail:
        """See `Proposals.accept`."""
        return self._post(proposal_id, "acceptance", acceptance)

    def reject(self, proposal_id: str, dismissal: Dismissal) -> ProposalDetail:
        """See `Proposals.reject`."""
        return self._post(proposal_id, "rejection", dismissal)

    def withdraw(self, proposal_id: str, dismissal: Dismissal) -> ProposalDetail:
        """See `Proposals.withdraw`."""
        return self._post(proposal_id, "withdrawal", dismissal)

    def validate(self, validation: Validation) -> None:
        """See `Proposals.validate`."""
        self._client.post("/v1/validations", validation)

    def _post(self, proposal_id: str, what: str, body: Value) -> ProposalDetail:
        found = self._client.post(f"{_path(proposal_id)}/{what}", body)
        return ProposalDetail.model_validate(found)


def _path(proposal_id: str) -> str:
    return f"/v1/proposals/{quote(proposal_id, '')}"
