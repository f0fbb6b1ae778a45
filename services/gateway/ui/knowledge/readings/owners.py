"""Naming the team that looks after documents."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from services.contracts.ingestion import Ownership
from services.gateway.ui.knowledge.known import Services
from services.gateway.ui.knowledge.readings.forms import SEE_OTHER
from services.gateway.ui.templates import refused
from services.kit.errors import InvalidInputError

router = APIRouter(include_in_schema=False)


@router.post("/knowledge/owners")
def owner_of_page(
    services: Services,
    root: Annotated[str, Form(max_length=4096)] = "",
    prefix: Annotated[str, Form(max_length=1024)] = "",
    team: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Name the team of a root, a folder or a document; without a team the entry goes."""
    try:
        services.ingestion.set_owner(Ownership(root=root, prefix=prefix.strip(), team=team))
    except InvalidInputError as error:
        return refused(error)
    return RedirectResponse("/knowledge/readings#owners", SEE_OTHER)
