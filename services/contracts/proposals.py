"""Proposed pages: learned or composed, used once a person has accepted them."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from services.contracts.client import ContractClient, route
from services.contracts.readings import ShortReading, SubmittedReading
from services.kit.value import Value

ACCEPTED_PAGES = "accepted pages"
"""Root of documents that were proposed and accepted; it is not a folder, so that nothing can move
it.
"""


class ProposalOrigin(StrEnum):
    """Origin of a proposed page."""

    LEARNED = "learned"
    """Learned from work on tickets."""
    COMPOSED = "composed"
    """Composed from a sentence that a person wrote."""


class ProposalState(StrEnum):
    """State of a proposed page."""

    PROPOSED = "proposed"
    """Undecided; no ticket can retrieve it."""
    ACCEPTED = "accepted"
    """An ordinary document, with an approved reading."""
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    """Accepted, then removed by a person."""
    EXPIRED = "expired"
    """Accepted, but not validated by a run for too long."""


class SourceRun(Value):
    """Work on one ticket that a page was learned from."""

    ticket_id: str = Field(max_length=200)
    ticket_title: str = Field(default="", max_length=1000)
    run_id: str = Field(default="", max_length=200)
    """The run in which something was done; empty for a search alone."""
    outcome: str = Field(default="", max_length=40)
    at: datetime


class ProposedPage(Value):
    """A page for a person to review."""

    key: str = Field(min_length=1, max_length=200)
    """Idempotency key: the same key again is the same proposal."""
    title: str = Field(min_length=1, max_length=300)
    text: str = Field(min_length=1, max_length=200_000)
    """Text in Markdown; the reading cites its lines."""
    reading: SubmittedReading
    origin: ProposalOrigin
    runs: tuple[SourceRun, ...] = Field(default=(), max_length=200)
    proposed_by: str = Field(default="", max_length=200)
    """People who had it written, joined by `and`; empty: the platform. None of them may accept
    it.
    """


class ProposalSummary(Value):
    """A proposed page in a list."""

    id: str
    title: str
    document_id: str
    """Document id that it has, or would have: `learned/NAME.md`."""
    origin: ProposalOrigin
    state: ProposalState
    learned_from: int
    """Number of runs; 1: a single path was seen."""
    proposed_by: str
    proposed_at: datetime
    decided_by: str = ""
    decided_at: datetime | None = None
    validated_at: datetime | None = None
    """Time at which a run last showed that the page holds."""
    expires_at: datetime | None = None
    """Time at which an accepted page expires unless a run validates it."""


class ProposalDetail(ProposalSummary):
    """A proposed page with its text, reading and runs."""

    text: str
    text_hash: str
    reading: ShortReading
    runs: tuple[SourceRun, ...]
    original: str = ""
    """The proposed text, if the person who accepted it had edited it."""
    why: str = ""
    """Reason for the rejection or withdrawal."""


class Acceptance(Value):
    """Request to accept a proposed page."""

    text: str = Field(default="", max_length=200_000)
    """The edited text; empty: as proposed. If a step of the reading cannot be found in it, it is
    refused.
    """
    text_hash: str = Field(max_length=64)
    """Hash of the text that the person saw."""


class Dismissal(Value):
    """Request to reject a proposed page, or to withdraw an accepted one."""

    why: str = Field(default="", max_length=2000)


class Validation(Value):
    """Report of a run that followed accepted pages with success."""

    document_ids: tuple[str, ...] = Field(max_length=50)
    run_id: str = Field(max_length=200)
    at: datetime


class Proposals(Protocol):
    """Proposed pages, in the name of the current caller."""

    def propose(self, page: ProposedPage) -> ProposalDetail:
        """Store a page for review; the same key again returns the existing proposal.

        Raises:
            InvalidInputError: The reading does not match the text, or instructs its reader.
            ForbiddenError: It claims to be learned, and a person or their key proposes it.
            TooManyRequestsError: The caller, with all their keys, proposed 30 pages in 24 hours.
        """

    def proposals(self, state: ProposalState | None = None) -> list[ProposalSummary]:
        """List the proposals in a state, or all, the latest first; 200 at most."""

    def proposal(self, proposal_id: str) -> ProposalDetail:
        """Return a proposal.

        Raises:
            NotFoundError: No such proposal.
        """

    def accept(self, proposal_id: str, acceptance: Acceptance) -> ProposalDetail:
        """Make it a document whose reading the caller approves; never by its author or a key.

        Raises:
            NotFoundError: No such proposal.
            ConflictError: It was decided before, or has changed since the caller saw it.
            InvalidInputError: The edited text no longer says what the reading says.
            ForbiddenError: The caller may not accept it.
        """

    def reject(self, proposal_id: str, dismissal: Dismissal) -> ProposalDetail:
        """Reject a proposal for good; raises `NotFoundError`, `ConflictError`."""

    def withdraw(self, proposal_id: str, dismissal: Dismissal) -> ProposalDetail:
        """Remove an accepted page from the documents; raises `NotFoundError`, `ConflictError`."""

    def validate(self, validation: Validation) -> None:
        """Record that a run has shown these pages to hold; unknown documents are ignored."""


class ProposalsClient(ContractClient):
    """`Proposals` in another process, over HTTP."""

    propose = route(Proposals.propose, "POST", "/v1/proposals")
    proposals = route(Proposals.proposals, "GET", "/v1/proposals")
    proposal = route(Proposals.proposal, "GET", "/v1/proposals/{proposal_id}")
    accept = route(Proposals.accept, "POST", "/v1/proposals/{proposal_id}/acceptance")
    reject = route(Proposals.reject, "POST", "/v1/proposals/{proposal_id}/rejection")
    withdraw = route(Proposals.withdraw, "POST", "/v1/proposals/{proposal_id}/withdrawal")
    validate = route(Proposals.validate, "POST", "/v1/validations")
