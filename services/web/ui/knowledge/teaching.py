"""Page of those whose work is learned from; a button takes back what one of them taught."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response

from services.contracts.teaching import Teaching, TeachingWithdrawal
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.teaching.teacher import LEAST_TEACHERS, MOST_A_DAY
from services.web.ui.forms import form_route, redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend

_Caller = Annotated[str, Form(min_length=1, max_length=400)]


def create_teaching_pages(backend: KnowledgeBackend, teaching: Teaching) -> APIRouter:
    """Build the router of the page."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/teachers")
    @needs(Need.READ)
    def teachers_page() -> HTMLResponse:
        """Show the callers who taught, the latest first."""
        return backend.page(
            "knowledge/teachers.html",
            tab="Teachers",
            teachers=teaching.teachers(),
            least=LEAST_TEACHERS,
            most=MOST_A_DAY,
            may_withdraw=current_caller().may(Scope.APPROVE),
        )

    @router.post("/knowledge/teachers/withdrawals")
    @form_route()
    @needs(Need.APPROVE)
    def withdraw_by_form(caller: _Caller) -> Response:
        """Take back what a caller taught."""
        teaching.withdraw(TeachingWithdrawal(caller=caller))
        return redirect_to("knowledge", "teachers")

    @router.post("/knowledge/teachers/withdrawals/undo")
    @form_route()
    @needs(Need.APPROVE)
    def restore_by_form(caller: _Caller) -> Response:
        """Let count again what was taken back."""
        teaching.restore(caller)
        return redirect_to("knowledge", "teachers")

    return router
