"""Proposed pages: those that wait, and one with where it comes from and what it would tell."""

from collections import Counter
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, Response

from services.contracts.proposals import (
    Acceptance,
    Dismissal,
    ProposalDetail,
    Proposals,
    ProposalState,
)
from services.gateway.ui.forms import show
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.knowledge.proposals.views import (
    ShownBinding,
    changes_of,
    shown_procedures,
)
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import ConflictError, ForbiddenError, InvalidInputError

_Why = Annotated[str, Form(max_length=2000)]
_Hash = Annotated[str, Form(max_length=64)]
_Text = Annotated[str, Form(max_length=200_000)]


def create_proposal_pages(known: Known) -> APIRouter:
    """The pages and their forms, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/proposals")
    @needs(Need.READ)
    def proposals_page(state: Annotated[str, Query(max_length=40)] = "") -> HTMLResponse:
        """The latest first; a state that does not exist shows all."""
        found = known.proposals().proposals()
        chosen = ProposalState(state) if state in set(ProposalState) else None
        return known.page(
            "knowledge/proposals/list.html",
            tab="Proposed pages",
            found=[each for each in found if chosen in {None, each.state}],
            counts=Counter(each.state for each in found),
            states=list(ProposalState),
            chosen=chosen,
        )

    @router.get("/knowledge/proposals/{proposal_id}")
    @needs(Need.READ)
    def proposal_page(proposal_id: str) -> HTMLResponse:
        """One of them, beside its lines."""
        return _shown(known, known.proposals().proposal(proposal_id))

    @router.post("/knowledge/proposals/{proposal_id}/acceptance")
    @needs(Need.APPROVE)
    def acceptance_of_page(proposal_id: str, text_hash: _Hash, text: _Text = "") -> Response:
        """Vouch for it as it was seen, or as it was edited here; refused, the edit stays."""
        given = text.replace("\r\n", "\n")
        acceptance = Acceptance(text=given, text_hash=text_hash)
        return _decided(
            known, proposal_id, lambda pages: pages.accept(proposal_id, acceptance), typed=given
        )

    @router.post("/knowledge/proposals/{proposal_id}/rejection")
    @needs(Need.APPROVE)
    def rejection_of_page(proposal_id: str, why: _Why = "") -> Response:
        """Decide against it for good."""
        dismissal = Dismissal(why=why)
        return _decided(known, proposal_id, lambda pages: pages.reject(proposal_id, dismissal))

    @router.post("/knowledge/proposals/{proposal_id}/withdrawal")
    @needs(Need.APPROVE)
    def withdrawal_of_page(proposal_id: str, why: _Why = "") -> Response:
        """Take it out of the documents."""
        dismissal = Dismissal(why=why)
        return _decided(known, proposal_id, lambda pages: pages.withdraw(proposal_id, dismissal))

    return router


def _decided(
    known: Known,
    proposal_id: str,
    decide: Callable[[Proposals], ProposalDetail],
    *,
    typed: str = "",
) -> Response:
    try:
        decide(known.proposals())
    except (ConflictError, InvalidInputError, ForbiddenError) as error:
        detail = known.proposals().proposal(proposal_id)
        return _shown(known, detail, refused=str(error), typed=typed, status=error.status_code)
    return show("knowledge", "proposals", proposal_id)


def _shown(
    known: Known, detail: ProposalDetail, *, refused: str = "", typed: str = "", status: int = 200
) -> HTMLResponse:
    """`refused` says why what was sent was not taken, `typed` is the text that was edited."""
    is_edited = bool(typed) and typed != detail.text
    before, after = (detail.text, typed) if is_edited else (detail.original, detail.text)
    bindings: tuple[ShownBinding, ...] = ()
    return known.page(
        "knowledge/proposals/page.html",
        status_code=status,
        tab="Proposed pages",
        detail=detail,
        procedures=shown_procedures(detail),
        changes=list(changes_of(before, after)) if before else [],
        is_edited=is_edited,
        text=typed if is_edited else detail.text,
        bindings=bindings,
        refused=refused,
        may_approve=current_caller().may(Scope.APPROVE),
    )
