"""Planner over HTTP."""

from fastapi import APIRouter

from services.contracts.planner import Planner, PlanRequest, PlanResponse


def create_router(service: Planner) -> APIRouter:
    """The routes, as a function of the contract."""
    router = APIRouter(prefix="/v1", tags=["planner"])

    @router.post("/plans")
    def plan_workflows(request: PlanRequest) -> PlanResponse:
        """Write candidate workflows for a ticket from what is known about it.

        The planner's own favourite comes first; the list is empty when the context holds no
        procedure. Each step cites the lines it comes from.
        """
        return service.plan(request)

    return router
