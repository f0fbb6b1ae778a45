"""Addresses by which tickets, workflows and cited lines are reached."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Path

from services.workflow.model import Citation

MAX_ID_CHARACTERS = 64

Id = Annotated[str, Path(max_length=MAX_ID_CHARACTERS)]
"""Of a ticket, a workflow or a question, in a path."""


def ticket_url(ticket_id: str) -> str:
    """The address that tells how a ticket stands."""
    return f"/v1/tickets/{quote(ticket_id, safe='')}"


def workflow_url(workflow_id: str) -> str:
    """The address of a workflow."""
    return f"/v1/workflows/{quote(workflow_id, safe='')}"


def citation_url(citation: Citation) -> str:
    """The page that shows a citation's lines."""
    return lines_url(citation.document_id, citation.start_line, citation.end_line)


def lines_url(document_id: str, start: int, end: int) -> str:
    """The page that shows some lines of a document."""
    return f"/sources/{quote(document_id, safe='/')}?lines={start}-{end}"
