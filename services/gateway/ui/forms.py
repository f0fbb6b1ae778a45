"""What all forms of the pages share: a refusal is a page, and what was done is shown."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, ParamSpec
from urllib.parse import quote, urlencode

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse, Response

from services.gateway.ui.templates import refused
from services.kit.errors import FlowXpertError

P = ParamSpec("P")
Route = Callable[P, Response]

_SEE_OTHER = 303


async def _sent(request: Request) -> frozenset[str]:
    """Return the names of the fields that a form sent, those left empty too."""
    return frozenset(await request.form())


SentFields = Annotated[frozenset[str], Depends(_sent)]


def form(*refusals: type[FlowXpertError]) -> Callable[[Route[P]], Route[P]]:
    """Make a route answer these refusals with their page, or all of them."""
    caught = refusals or (FlowXpertError,)

    def with_refusals(route: Route[P]) -> Route[P]:
        @wraps(route)
        def answer(*args: P.args, **kwargs: P.kwargs) -> Response:
            try:
                return route(*args, **kwargs)
            except caught as error:
                return refused(error)

        return answer

    return with_refusals


def show(*path: str, at: str = "") -> RedirectResponse:
    """Lead on to a page by the parts of its path; `at`: the query and the place in it."""
    address = "".join(f"/{quote(part, safe='')}" for part in path)
    return RedirectResponse(address + at, _SEE_OTHER)


def query_of(fields: Mapping[str, str]) -> str:
    """Return the query of an address with its question mark; fields that are empty are left out."""
    kept = {name: value for name, value in fields.items() if value}
    return f"?{urlencode(kept)}" if kept else ""
