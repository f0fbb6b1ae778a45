"""Pages of proposals: those that wait, and one with its origin and the procedures it holds."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
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
from services.contracts.readings import ProcedureState, ReadingDetail
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import ConflictError, ForbiddenError, InvalidInputError
from services.runbook.ports import ReadingState
from services.web.ui.forms import redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.knowledge.readings.views import procedure_views

_Why = Annotated[str, Form(max_length=2000)]
_Hash = Annotated[str, Form(max_length=64)]
_Text = Annotated[str, Form(max_length=200_000)]


def create_proposal_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the pages and their forms."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/proposals")
    @needs(Need.READ)
    def proposals_page(state: Annotated[str, Query(max_length=40)] = "") -> HTMLResponse:
        """List the proposals, the latest first; a state that does not exist shows all."""
        proposals = backend.services.proposals.proposals()
        chosen = ProposalState(state) if state in set(ProposalState) else None
        return backend.page(
            "knowledge/proposals/list.html",
            tab="Proposed pages",
            found=[each for each in proposals if chosen in {None, each.state}],
            counts=Counter(each.state for each in proposals),
            states=list(ProposalState),
            chosen=chosen,
        )

    @router.get("/knowledge/proposals/{proposal_id}")
    @needs(Need.READ)
    def proposal_page(proposal_id: str) -> HTMLResponse:
        """Show one proposal, its procedures beside its lines."""
        return _render_proposal(backend, backend.services.proposals.proposal(proposal_id))

    @router.post("/knowledge/proposals/{proposal_id}/acceptance")
    @needs(Need.APPROVE)
    def acceptance_of_page(proposal_id: str, text_hash: _Hash, text: _Text = "") -> Response:
        """Accept the proposal as it was seen or edited here; a refused edit stays in its field."""
        edited = text.replace("\r\n", "\n")
        acceptance = Acceptance(text=edited, text_hash=text_hash)
        return _apply_decision(
            backend, proposal_id, lambda pages: pages.accept(proposal_id, acceptance), typed=edited
        )

    @router.post("/knowledge/proposals/{proposal_id}/rejection")
    @needs(Need.APPROVE)
    def rejection_of_page(proposal_id: str, why: _Why = "") -> Response:
        """Reject the proposal for good."""
        dismissal = Dismissal(why=why)
        return _apply_decision(
            backend, proposal_id, lambda pages: pages.reject(proposal_id, dismissal)
        )

    @router.post("/knowledge/proposals/{proposal_id}/withdrawal")
    @needs(Need.APPROVE)
    def withdrawal_of_page(proposal_id: str, why: _Why = "") -> Response:
        """Withdraw the accepted page from the documents."""
        dismissal = Dismissal(why=why)
        return _apply_decision(
            backend, proposal_id, lambda pages: pages.withdraw(proposal_id, dismissal)
        )

    return router


def _apply_decision(
    backend: KnowledgeBackend,
    proposal_id: str,
    decide: Callable[[Proposals], ProposalDetail],
    *,
    typed: str = "",
) -> Response:
    try:
        decide(backend.services.proposals)
    except (ConflictError, InvalidInputError, ForbiddenError) as error:
        detail = backend.services.proposals.proposal(proposal_id)
        return _render_proposal(
            backend, detail, refused=str(error), typed=typed, status=error.status_code
        )
    return redirect_to("knowledge", "proposals", proposal_id)


def _render_proposal(
    backend: KnowledgeBackend,
    detail: ProposalDetail,
    *,
    refused: str = "",
    typed: str = "",
    status: int = 200,
) -> HTMLResponse:
    """Render a proposal.

    `refused` is the reason why the form was refused, `typed` the edited text.
    """
    is_edited = bool(typed) and typed != detail.text
    before, after = (detail.text, typed) if is_edited else (detail.original, detail.text)
    procedures = procedure_views(_to_reading_detail(detail))
    if len(procedures) == 1:  # it is shown beside the whole page
        whole = tuple(detail.text.split("\n"))
        procedures = [replace(procedures[0], first_line=1, lines=whole)]
    return backend.page(
        "knowledge/proposals/page.html",
        status_code=status,
        tab="Proposed pages",
        detail=detail,
        procedures=procedures,
        changes=list(changes_of(before, after)) if before else [],
        is_edited=is_edited,
        text=typed if is_edited else detail.text,
        refused=refused,
        may_approve=current_caller().may(Scope.APPROVE),
    )


@dataclass(frozen=True)
class ShownChange:
    """A line that an edit removed or added."""

    kind: str
    """`added` or `removed`."""
    number: int
    """Number of the line in the text that has it."""
    line: str


def changes_of(before: str, after: str) -> Iterator[ShownChange]:
    """Yield the lines that differ, in the order of the page."""
    old, new = before.split("\n"), after.split("\n")
    for tag, first, end, start, stop in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            continue
        yield from _changed_lines("removed", old, first, end)
        yield from _changed_lines("added", new, start, stop)


def _changed_lines(kind: str, lines: Sequence[str], first: int, end: int) -> Iterator[ShownChange]:
    for number in range(first, end):
        if lines[number].strip():
            yield ShownChange(kind, number + 1, lines[number])


def _to_reading_detail(detail: ProposalDetail) -> ReadingDetail:
    procedures = detail.reading.procedures
    return ReadingDetail(
        text_hash=detail.text_hash,
        documents=(detail.document_id,),
        reader=detail.reading.reader,
        state=ReadingState.READ,
        procedures=len(procedures),
        approved=0,
        doubts=len(detail.reading.doubts),
        was_approved=False,
        updated_at=detail.proposed_at,
        revision="",
        reading=detail.reading,
        states=tuple(
            ProcedureState(title=each.title, state=ReadingState.READ) for each in procedures
        ),
        offers=(),
        lines=tuple(detail.text.split("\n")),
    )
