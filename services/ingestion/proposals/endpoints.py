"""HTTP routes of proposed pages."""

from typing import Annotated

from fastapi import APIRouter, Path

from services.contracts.proposals import (
    Acceptance,
    Dismissal,
    ProposalDetail,
    Proposals,
    ProposalState,
    ProposalSummary,
    ProposedPage,
    Validation,
)
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from services.kit.http.openapi import refusals

Id = Annotated[str, Path(max_length=200)]

_DECISIONS = refusals(NotFoundError, ConflictError, InvalidInputError)


def create_proposals_router(proposals: Proposals) -> APIRouter:
    """Build the routes as a function of the contract."""
    router = APIRouter(prefix="/v1", tags=["proposals"])

    @router.post("/proposals", responses=refusals(InvalidInputError, ForbiddenError))
    @needs(Need.RUN)
    def propose_page(page: ProposedPage) -> ProposalDetail:
        """Keep a page for review; no ticket finds it before it is accepted.

        The same key again returns what is there. Pages learned from runs are proposed by the
        platform itself: it knows which runs there were.
        """
        return proposals.propose(page)

    @router.get("/proposals")
    @needs(Need.READ)
    def list_proposals(state: ProposalState | None = None) -> list[ProposalSummary]:
        """List proposed pages in a state, or all, the latest first; 200 at most."""
        return proposals.proposals(state)

    @router.get("/proposals/{proposal_id}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_proposal(proposal_id: Id) -> ProposalDetail:
        """Return a proposed page with its text, its reading and the runs that it comes from."""
        return proposals.proposal(proposal_id)

    @router.post("/proposals/{proposal_id}/acceptance", responses=_DECISIONS)
    @needs(Need.APPROVE)
    def accept_proposal(proposal_id: Id, acceptance: Acceptance) -> ProposalDetail:
        """Make it a document whose reading the caller has approved; its author cannot.

        An edited text must still say all that the reading says; the refusal names what is missing.
        """
        return proposals.accept(proposal_id, acceptance)

    @router.post("/proposals/{proposal_id}/rejection", responses=_DECISIONS)
    @needs(Need.APPROVE)
    def reject_proposal(proposal_id: Id, dismissal: Dismissal) -> ProposalDetail:
        """Reject it for good."""
        return proposals.reject(proposal_id, dismissal)

    @router.post("/proposals/{proposal_id}/withdrawal", responses=_DECISIONS)
    @needs(Need.APPROVE)
    def withdraw_proposal(proposal_id: Id, dismissal: Dismissal) -> ProposalDetail:
        """Withdraw an accepted page from the documents; the proposal keeps its text."""
        return proposals.withdraw(proposal_id, dismissal)

    @router.post("/validations")
    @needs(Need.PLATFORM)
    def put_validation(validation: Validation) -> None:
        """Note that a run has shown these pages to hold: they expire later.

        Unknown ones are ignored.
        """
        proposals.validate(validation)

    return router
