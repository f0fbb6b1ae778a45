"""Naming the team that looks after documents."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import Response

from services.contracts.ingestion import Ownership
from services.gateway.ui.forms import form, show
from services.gateway.ui.knowledge.known import Known
from services.kit.access.needs import Need, needs
from services.kit.errors import InvalidInputError


def create_owner_form(known: Known) -> APIRouter:
    """The form, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.post("/knowledge/owners")
    @form(InvalidInputError)
    @needs(Need.INGEST)
    def owner_of_page(
        root: Annotated[str, Form(max_length=4096)] = "",
        prefix: Annotated[str, Form(max_length=1024)] = "",
        team: Annotated[str, Form(max_length=200)] = "",
    ) -> Response:
        """Name the team of a root, a folder or a document; without a team the entry goes."""
        known.services.ingestion.set_owner(Ownership(root=root, prefix=prefix.strip(), team=team))
        return show("knowledge", "readings", at="#owners")

    return router
