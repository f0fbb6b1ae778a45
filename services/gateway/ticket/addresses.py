"""Addresses by which tickets and workflows are reached."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Path

MAX_ID_CHARACTERS = 64

Id = Annotated[str, Path(max_length=MAX_ID_CHARACTERS)]
"""Of a ticket, a workflow or a question, in a path."""


def ticket_url(ticket_id: str) -> str:
    """The address that tells how a ticket stands."""
    return f"/v1/tickets/{quote(ticket_id, safe='')}"


def workflow_url(workflow_id: str) -> str:
    """The address of a workflow."""
    return f"/v1/workflows/{quote(workflow_id, safe='')}"
