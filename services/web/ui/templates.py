"""Rendering of templates: all output is escaped, and an undefined name is an error."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from services.contracts.gateway import ProgressEvent
from services.kit.access.caller import current_caller
from services.kit.errors import FlowXpertError
from services.runbook.checklist.shown import AS_IT_IS, LEFT_OUT, leads_to_words
from services.tickets.formats import citation_url
from services.tickets.ticket.addresses import workflow_url
from services.tickets.ticket.event_kinds import BEGINNINGS, STAGES
from services.workflow.commands import split_at_gaps
from services.workflow.effects.effect import effect_of
from services.workflow.effects.output import is_command
from services.workflow.effects.queries import is_metric_query
from services.workflow.read_only import is_read_only_step

NAVIGATION = (
    ("Incidents", "/"),
    ("Knowledge", "/knowledge/readings"),
    ("Runs", "/runs"),
    ("Acceptance", "/acceptance"),
)
"""Links of every page, in this order."""
LINES_SHOWN = 3_000
"""Lines of a document on one page."""

_REFUSAL_TITLES = {
    400: "That cannot be read",
    403: "Not allowed",
    404: "Not found",
    409: "Decided already",
    413: "Too large",
    422: "That cannot be used",
    429: "Too many requests",
    500: "Something broke here",
    503: "Not available right now",
}
"""Titles of error pages, by status."""
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def render(template: str, *, status_code: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
    """Render a template as a page."""
    text = _ENVIRONMENT.get_template(template).render(values)
    return HTMLResponse(text, status_code, headers={"cache-control": "no-store"})


def error_page(status: int, body: Mapping[str, str]) -> HTMLResponse:
    """Render the page of a refusal."""
    title = _REFUSAL_TITLES.get(status, "That did not work")
    context = {"title": title, "detail": body["detail"], "status": status}
    return render("refused.html", status_code=status, **context)


def render_refusal(error: FlowXpertError) -> HTMLResponse:
    """Render the page of an error."""
    return error_page(error.status_code, error.body())


def events_of_last_walk(events: Sequence[ProgressEvent]) -> Sequence[ProgressEvent]:
    """Return the first event, and the events of the walk that was requested last."""
    begins = [place for place, event in enumerate(events) if event.kind in BEGINNINGS]
    return [events[0], *events[begins[-1] :]] if begins else events


def age(moment: datetime, now: datetime | None = None) -> str:
    """Return how long ago a time was, in the largest unit that fits: `3 min`."""
    seconds = max(0, int(((now or datetime.now(UTC)) - moment).total_seconds()))
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return "a moment"


def web_address(url: str) -> str:
    """Return the address if a click on it only opens a page, else an empty string."""
    try:
        return url if urlsplit(url).scheme in {"http", "https"} else ""
    except ValueError:
        return ""


def lines_of(start: int, end: int) -> str:
    """Format a range of lines in words."""
    return f"line {start}" if start == end else f"lines {start}–{end}"


def capitalize_first(text: str) -> str:
    """Return the text with its first letter in upper case, the others as they are."""
    return text[:1].upper() + text[1:]


def first_shown(line: int) -> int:
    """Return the first line of the page of a document that shows this line."""
    return (line - 1) // LINES_SHOWN * LINES_SHOWN + 1


def _create_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        # A release that is put in place while this process serves is not this process's.
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        age=age,
        web_address=web_address,
        lines_of=lines_of,
        first_shown=first_shown,
        capitalize_first=capitalize_first,
        pieces=split_at_gaps,
    )
    environment.globals.update(
        citation_url=citation_url,
        effect_of=effect_of,
        is_command=is_command,
        is_metric_query=is_metric_query,
        only_looks=is_read_only_step,
        workflow_url=workflow_url,
        since_answer=events_of_last_walk,
        navigation=NAVIGATION,
        current_caller=current_caller,
        stages=STAGES,
        as_it_is=AS_IT_IS,
        left_out=LEFT_OUT,
        leads_to_words=leads_to_words,
    )
    return environment


_ENVIRONMENT = _create_environment()
