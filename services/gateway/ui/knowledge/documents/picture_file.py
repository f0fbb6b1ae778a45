"""The bytes of a page's picture, for whoever may read the page."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from services.gateway.ui.knowledge.known import Known
from services.kit.access.needs import Need, needs
from services.kit.http.foreign_file import foreign_file


def create_picture_file(known: Known) -> APIRouter:
    """The address, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/picture/{content_hash}")
    @needs(Need.READ)
    def picture_of_document(
        content_hash: str, document: Annotated[str, Query(max_length=1024)]
    ) -> Response:
        """One picture of a document."""
        file = known.services.ingestion.picture(document, content_hash)
        return foreign_file(file.content, file.media_type)

    return router
