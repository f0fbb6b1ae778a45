"""A sentence, the draft that comes of it, its questions, and the page that is proposed."""

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
from services.gateway.ui.forms import show
from services.gateway.ui.knowledge.known import Known
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError, InvalidInputError
from services.procedure.lowering import lower
from services.workflow.drawing.svg import to_svg

_ANSWER = "answer."
"""Before the id of a question."""


async def _told(request: Request) -> dict[str, str]:
    return {name: str(value) for name, value in (await request.form()).items()}


_Told = Annotated[dict[str, str], Depends(_told)]


def create_compose_pages(known: Known) -> APIRouter:
    """The page, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/compose")
    @needs(Need.OPERATE)
    def compose_page() -> HTMLResponse:
        """An empty field."""
        return _page(known)

    @router.post("/compose")
    @needs(Need.OPERATE)
    def compose_draft(told: _Told) -> HTMLResponse:
        """The draft of what was typed, or the draft with answers and changes."""
        try:
            draft = _draft(told)
            wanted = ComposeRequest(
                instruction=told.get("instruction", "")[:MOST_WORDS],
                draft=draft,
                answers=_answers(told),
            )
            return _page(known, known.composing().compose(wanted))
        except FlowXpertError as error:
            return _again(known, told, error)

    @router.post("/compose/proposals")
    @needs(Need.RUN)
    def propose_draft(told: _Told) -> Response:
        """Propose what is drawn, and show it among the pages that wait."""
        try:
            draft = _draft(told)
            if draft is None:
                raise InvalidInputError("there is no draft to propose")
            words = told.get("words", "")[:2000]
            page = known.composing().page(CompositionProposal(draft=draft, words=words))
            made = known.proposals().propose(page)
        except FlowXpertError as error:
            return _again(known, told, error)
        return show("knowledge", "proposals", made.id)

    return router


def _draft(told: Mapping[str, str]) -> Composition | None:
    """The draft that the page has sent along; raises `InvalidInputError`."""
    if not told.get("draft"):
        return None
    try:
        return Composition.model_validate_json(told["draft"])
    except ValidationError as error:
        raise InvalidInputError("the draft that was sent along cannot be read") from error


def _answers(told: Mapping[str, str]) -> tuple[ComposeAnswer, ...]:
    return tuple(
        ComposeAnswer(question=name.removeprefix(_ANSWER)[:200], answer=value.strip()[:2000])
        for name, value in told.items()
        if name.startswith(_ANSWER) and value.strip()
    )[:200]


def _again(known: Known, told: Mapping[str, str], error: FlowXpertError) -> HTMLResponse:
    """What was typed, with why it was not taken."""
    try:
        draft = _draft(told)
    except InvalidInputError:
        draft = None
    typed = told.get("instruction", "")[:MOST_WORDS]
    return _page(known, draft, typed=typed, refused=str(error), status_code=error.status_code)


def _page(
    known: Known,
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
    return known.page("knowledge/composing/page.html", status_code=status_code, **values)
