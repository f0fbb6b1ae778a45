"""Addresses of the pages that show lines of a document."""

from urllib.parse import quote

from services.workflow.model import Citation


def citation_url(citation: Citation) -> str:
    """The page that shows a citation's lines."""
    return lines_url(citation.document_id, citation.start_line, citation.end_line)


def lines_url(document_id: str, start: int, end: int) -> str:
    """The page that shows some lines of a document."""
    return f"/sources/{quote(document_id, safe='/')}?lines={start}-{end}"
