"""Formats of a workflow, chosen by name or by the `Accept` header."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from services.runbook.checklist.markdown import to_checklist_markdown
from services.runbook.checklist.shown import headings_of
from services.runbook.checklist.text import to_checklist_text
from services.workflow.drawing.svg import to_svg
from services.workflow.formats.code import to_code
from services.workflow.formats.markdown import to_markdown
from services.workflow.formats.mermaid import to_mermaid
from services.workflow.formats.text import to_text
from services.workflow.model import Citation, Workflow

JSON = "json"


@dataclass(frozen=True)
class Format:
    """A format of a workflow: its media type and its writer."""

    media_type: str
    write: Callable[[Workflow], str]


def citation_url(citation: Citation) -> str:
    """Return the address of the page that shows a citation's lines."""
    return lines_url(citation.document_id, citation.start_line, citation.end_line)


def lines_url(document_id: str, start: int, end: int) -> str:
    """Return the address of the page that shows some lines of a document."""
    return f"/sources/{quote(document_id, safe='/')}?lines={start}-{end}"


def markdown(workflow: Workflow, *, for_model: bool = False) -> str:
    """Return a procedure's steps or a checklist's page; see `to_checklist_markdown`."""
    if workflow.page:
        return to_checklist_markdown(workflow, link=citation_url, for_model=for_model)
    return to_markdown(workflow, link=citation_url)


FORMATS: Mapping[str, Format] = {
    "mermaid": Format(
        "text/vnd.mermaid",
        lambda workflow: to_mermaid(workflow, headings_of(workflow) if workflow.page else {}),
    ),
    "text": Format(
        "text/plain",
        lambda workflow: to_checklist_text(workflow) if workflow.page else to_text(workflow),
    ),
    "code": Format("text/x-python", to_code),
    "markdown": Format("text/markdown", markdown),
    "svg": Format("image/svg+xml", to_svg),
}

_NAME_OF_MEDIA_TYPE = {form.media_type: name for name, form in FORMATS.items()} | {
    "application/json": JSON
}


def accepted_format(accept: str) -> str:
    """Return the name of the format that an `Accept` header prefers, JSON by default."""
    preferences = sorted(map(_parse_quality, accept.split(",")), key=lambda pair: -pair[1])
    for media_type, weight in preferences:
        if weight > 0 and media_type in _NAME_OF_MEDIA_TYPE:
            return _NAME_OF_MEDIA_TYPE[media_type]
        if media_type in {"*/*", "application/*"}:
            return JSON
    return JSON


def _parse_quality(part: str) -> tuple[str, float]:
    media_type, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return media_type, float(parameter[2:])
            except ValueError:
                return media_type, 0.0
    return media_type, 1.0
