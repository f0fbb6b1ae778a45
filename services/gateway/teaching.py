"""HTTP routes of the teachers: their list, and taking back what one of them taught."""

from typing import Annotated

from fastapi import APIRouter, Path

from services.contracts.teaching import TeacherSummary, Teaching, TeachingWithdrawal
from services.kit.access.needs import Need, needs
from services.kit.errors import NotFoundError
from services.kit.http.openapi import refusals


def create_teaching_router(teaching: Teaching) -> APIRouter:
    """Build the routes as a function of the contract."""
    router = APIRouter(prefix="/v1", tags=["teaching"])

    @router.get("/teachers")
    @needs(Need.READ)
    def list_teachers() -> list[TeacherSummary]:
        """List whose work the platform learns from, the latest first."""
        return teaching.teachers()

    @router.post("/teachers/withdrawals", responses=refusals(NotFoundError))
    @needs(Need.APPROVE)
    def withdraw_teaching(withdrawal: TeachingWithdrawal) -> list[TeacherSummary]:
        """Take back all that a caller taught so far, by their name, their id or their person.

        What is suggested, in order and lifted by it is gone at once; learned numbers are made anew
        without it when they are next learned.
        """
        return teaching.withdraw(withdrawal)

    @router.delete("/teachers/withdrawals/{caller:path}", responses=refusals(NotFoundError))
    @needs(Need.APPROVE)
    def restore_teaching(
        caller: Annotated[str, Path(min_length=1, max_length=400)],
    ) -> list[TeacherSummary]:
        """Let count again what was taken back of a caller."""
        return teaching.restore(caller)

    return router
