"""HTTP routes for the edits of a page that work on tickets suggests."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from services.contracts.suggestions import SuggestedEdit, SuggestedEdits, SuggestionChoice
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, NotFoundError, UnavailableError
from services.kit.http.openapi import refusals
from services.tickets.suggestions.service import (
    NoSuggestionError,
    OwnSuggestionError,
    UnusableSuggestionError,
)


def create_suggestion_router(suggested: SuggestedEdits) -> APIRouter:
    """Create the routes."""
    router = APIRouter(prefix="/v1/suggested-edits", tags=["suggested edits"])

    @router.get("/{document_id:path}", responses=refusals(NotFoundError, UnavailableError))
    @needs(Need.READ)
    def list_suggested_edits(
        document_id: Annotated[str, Path(max_length=1024)],
        *,
        dismissed: Annotated[bool, Query(description="Also those that were dismissed.")] = False,
    ) -> tuple[SuggestedEdit, ...]:
        """List what work on tickets suggests to change on a page, in the order of its blocks.

        Steps left aside, added or done in another order, and notes; each with who, when and the
        tickets, and the edit that taking it over makes.
        """
        return suggested.of_document(document_id, dismissed=dismissed)

    @router.post(
        "/taken",
        responses=refusals(
            NoSuggestionError,
            OwnSuggestionError,
            UnusableSuggestionError,
            ConflictError,
            UnavailableError,
        ),
    )
    @needs(Need.APPROVE)
    def take_over_suggested_edit(choice: SuggestionChoice) -> SuggestedEdit:
        """Make a suggested edit; undoing it on the page suggests it again.

        Whoever alone suggests an edit does not take it over.
        """
        return suggested.take_over(choice)

    @router.post("/dismissals", responses=refusals(NoSuggestionError, UnavailableError))
    @needs(Need.APPROVE)
    def dismiss_suggested_edit(choice: SuggestionChoice) -> SuggestedEdit:
        """Dismiss a suggested edit; it comes back once three further tickets speak for it."""
        return suggested.dismiss(choice)

    @router.delete("/dismissals/{key}", status_code=204)
    @needs(Need.APPROVE)
    def restore_suggested_edit(key: Annotated[str, Path(max_length=40)]) -> None:
        """Take back that a suggested edit was dismissed."""
        suggested.restore(key)

    return router
