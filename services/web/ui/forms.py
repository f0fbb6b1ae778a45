"""Helpers of all forms: a refusal becomes a page, and a success redirects to its page."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, ParamSpec
from urllib.parse import quote, urlencode

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse, Response

from services.kit.errors import FlowXpertError
from services.web.ui.templates import render_refusal

P = ParamSpec("P")
Route = Callable[P, Response]


def form_route(*refusals: type[FlowXpertError]) -> Callable[[Route[P]], Route[P]]:
    """Make a route answer these refusals with an error page; all refusals if none is named."""
    caught = refusals or (FlowXpertError,)

    def with_refusals(route: Route[P]) -> Route[P]:
        @wraps(route)
        def answer(*args: P.args, **kwargs: P.kwargs) -> Response:
            try:
                return route(*args, **kwargs)
            except caught as error:
                return render_refusal(error)

        return answer

    return with_refusals


def redirect_to(*path: str, at: str = "") -> RedirectResponse:
    """Redirect to a page by the parts of its path; `at` is its query and fragment."""
    address = "".join(f"/{quote(part, safe='')}" for part in path)
    return RedirectResponse(address + at, 303)


def query_string(fields: Mapping[str, str]) -> str:
    """Return the query of an address with its question mark, without the empty fields."""
    kept = {name: value for name, value in fields.items() if value}
    return f"?{urlencode(kept)}" if kept else ""


ARGUMENT = "argument."
"""Prefix of a field that holds a tool's argument."""


async def _read_fields(request: Request) -> dict[str, str]:
    return {name: str(value)[:500] for name, value in (await request.form()).items()}


FormFields = Annotated[dict[str, str], Depends(_read_fields)]
"""All fields of the form by their names, empty ones included, each cut at 500 characters."""


def arguments_of(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments that were filled in, by the names of their parameters."""
    return {
        name.removeprefix(ARGUMENT): value
        for name, value in fields.items()
        if name.startswith(ARGUMENT)
    }
