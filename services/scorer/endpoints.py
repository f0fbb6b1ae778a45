"""HTTP routes of the scorer."""

from fastapi import APIRouter

from services.contracts.scorer import Scorer, ScoreRequest, ScoreResponse
from services.kit.access.needs import Need, needs


def create_router(service: Scorer) -> APIRouter:
    """Create the routes over the contract."""
    router = APIRouter(prefix="/v1", tags=["scorer"])

    @router.post("/scores")
    @needs(Need.OPERATE)
    def score_candidates(request: ScoreRequest) -> ScoreResponse:
        """Score candidates on relevance, coverage, accuracy, coherence and conciseness.

        All of them come back, best first: those without lint errors, then by the mean of the five.
        Each dimension gives its reason in one sentence.
        """
        return service.score(request)

    return router
