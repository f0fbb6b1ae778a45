"""Pages that compose a procedure: a sentence, its draft and questions, and the proposed page."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from pydantic import ValidationError

from services.contracts.composing import (
    MOST_WORDS,
    ComposeAnswer,
    ComposeRequest,
    Composition,
    CompositionProposal,
)
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError, InvalidInputError
from services.runbook.lowering import lower
from services.web.ui.forms import redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.workflow.drawing.svg import to_svg

_ANSWER = "answer."
"""Prefix of a field that answers the question with that id."""


async def _read_fields(request: Request) -> dict[str, str]:
    return {name: str(value) for name, value in (await request.form()).items()}


_FormFields = Annotated[dict[str, str], Depends(_read_fields)]


def create_compose_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the page."""
    router = APIRouter(include_in_schema=False)

    @router.get("/compose")
    @needs(Need.OPERATE)
    def compose_page() -> HTMLResponse:
        """Show the page with an empty field."""
        return _page(backend)

    @router.post("/compose")
    @needs(Need.OPERATE)
    def compose_draft(fields: _FormFields) -> HTMLResponse:
        """Draft a procedure from the sentence, or revise the draft by answers and changes."""
        try:
            draft = _parse_draft(fields)
            request = ComposeRequest(
                instruction=fields.get("instruction", "")[:MOST_WORDS],
                draft=draft,
                answers=(
                    tuple(
                        ComposeAnswer(
                            question=name.removeprefix(_ANSWER)[:200], answer=value.strip()[:2000]
                        )
                        for name, value in fields.items()
                        if name.startswith(_ANSWER) and value.strip()
                    )[:200]
                ),
            )
            return _page(backend, backend.composing().compose(request))
        except FlowXpertError as error:
            return _page_with_refusal(backend, fields, error)

    @router.post("/compose/proposals")
    @needs(Need.RUN)
    def propose_draft(fields: _FormFields) -> Response:
        """Propose the draft as a page, and show it among the proposals that wait."""
        try:
            draft = _parse_draft(fields)
            if draft is None:
                raise InvalidInputError("there is no draft to propose")
            words = fields.get("words", "")[:2000]
            page = backend.composing().page(CompositionProposal(draft=draft, words=words))
            proposal = backend.services.proposals.propose(page)
        except FlowXpertError as error:
            return _page_with_refusal(backend, fields, error)
        return redirect_to("knowledge", "proposals", proposal.id)

    return router


def _parse_draft(fields: Mapping[str, str]) -> Composition | None:
    """Return the draft that the page sent along; raises `InvalidInputError`."""
    if not fields.get("draft"):
        return None
    try:
        return Composition.model_validate_json(fields["draft"])
    except ValidationError as error:
        raise InvalidInputError("the draft that was sent along cannot be read") from error


def _page_with_refusal(
    backend: KnowledgeBackend, fields: Mapping[str, str], error: FlowXpertError
) -> HTMLResponse:
    """Return the page with what was typed, and the reason for the refusal."""
    try:
        draft = _parse_draft(fields)
    except InvalidInputError:
        draft = None
    typed = fields.get("instruction", "")[:MOST_WORDS]
    return _page(backend, draft, typed=typed, refused=str(error), status_code=error.status_code)


def _page(
    backend: KnowledgeBackend,
    draft: Composition | None = None,
    *,
    typed: str = "",
    refused: str = "",
    status_code: int = 200,
) -> HTMLResponse:
    drawing = ""
    if draft is not None and draft.procedure.body:
        drawing = Markup(to_svg(lower(draft.procedure, "composed.md")))  # noqa: S704 - it escapes
    values: dict[str, Any] = {
        "draft": draft,
        "drawing": drawing,
        "sent": draft.model_dump_json() if draft else "",
        "typed": typed,
        "refused": refused,
        "may_propose": current_caller().may(Scope.RUN),
        "most": MOST_WORDS,
        "tab": "Compose",
    }
    return backend.page("knowledge/composing/page.html", status_code=status_code, **values)
