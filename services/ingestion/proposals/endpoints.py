"""Proposed pages over HTTP."""

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
    """The routes, as a function of the contract."""
    router = APIRouter(prefix="/v1", tags=["proposals"])

    @router.post("/proposals", responses=refusals(InvalidInputError, ForbiddenError))
    @needs(Need.RUN)
    def propose_page(page: ProposedPage) -> ProposalDetail:
        """Keep a page for somebody to look at; no ticket finds it before it is accepted.

        The same key again gives what is there. What was learned from runs the platform itself
        proposes: it knows which runs there were.
        """
        return proposals.propose(page)

    @router.get("/proposals")
    @needs(Need.READ)
    def list_proposals(state: ProposalState | None = None) -> list[ProposalSummary]:
        """Proposed pages in a state, or all, the latest first; 200 at most."""
        return proposals.proposals(state)

    @router.get("/proposals/{proposal_id}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_proposal(proposal_id: Id) -> ProposalDetail:
        """A proposed page with its text, its reading and the runs that it comes from."""
        return proposals.proposal(proposal_id)

    @router.post("/proposals/{proposal_id}/acceptance", responses=_DECISIONS)
    @needs(Need.APPROVE)
    def accept_proposal(proposal_id: Id, acceptance: Acceptance) -> ProposalDetail:
        """Make it a document whose reading the caller has approved; not by who had it written.

        An edited text must still say all that the reading says; what it does not is told.
        """
        return proposals.accept(proposal_id, acceptance)

    @router.post("/proposals/{proposal_id}/rejection", responses=_DECISIONS)
    @needs(Need.APPROVE)
    def reject_proposal(proposal_id: Id, dismissal: Dismissal) -> ProposalDetail:
        """Decide against it for good."""
        return proposals.reject(proposal_id, dismissal)

    @router.post("/proposals/{proposal_id}/withdrawal", responses=_DECISIONS)
    @needs(Need.APPROVE)
    def withdraw_proposal(proposal_id: Id, dismissal: Dismissal) -> ProposalDetail:
        """Take an accepted page out of the documents; the proposal keeps its text."""
        return proposals.withdraw(proposal_id, dismissal)

    @router.post("/validations")
    @needs(Need.INGEST)
    def put_validation(validation: Validation) -> None:
        """A run has shown that these pages hold: they expire later; unknown ones are ignored."""
        proposals.validate(validation)

    return router
