"""Scorer over HTTP."""

from fastapi import APIRouter

from services.contracts.scorer import Scorer, ScoreRequest, ScoreResponse
from services.kit.access.needs import Need, needs


def create_router(service: Scorer) -> APIRouter:
    """The routes, as a function of the contract."""
    router = APIRouter(prefix="/v1", tags=["scorer"])

    @router.post("/scores")
    @needs(Need.OPERATE)
    def score_candidates(request: ScoreRequest) -> ScoreResponse:
        """Judge candidates on relevance, coverage, accuracy, coherence and conciseness.

        All of them come back, best first: those without lint errors, then by the mean of the five.
        Each dimension says in one sentence what it saw.
        """
        return service.score(request)

    return router
