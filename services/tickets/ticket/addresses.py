"""API paths of tickets and workflows."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Path

MAX_ID_CHARACTERS = 64

Id = Annotated[str, Path(max_length=MAX_ID_CHARACTERS)]
"""Path parameter: the id of a ticket, a workflow or a question."""


def ticket_url(ticket_id: str) -> str:
    """Return the API path of a ticket."""
    return f"/v1/tickets/{quote(ticket_id, safe='')}"


def workflow_url(workflow_id: str) -> str:
    """Return the API path of a workflow."""
    return f"/v1/workflows/{quote(workflow_id, safe='')}"
