"""How a refusal is answered: as JSON, or as a page to a browser that opened one."""

from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

ErrorPage = Callable[[int, Mapping[str, str]], Response]
"""A page for a status and an error's body; an app with pages has it as `state.error_page`, and in
`state.no_pages` how the paths begin that answer programs alone."""


def refusal(
    scope: Scope, status: int, body: Mapping[str, str], headers: Mapping[str, str] | None = None
) -> Response:
    """The answer to a request that is refused."""
    page: ErrorPage | None = getattr(scope["app"].state, "error_page", None)
    if page is None or not _opens_a_page(scope):
        return JSONResponse(dict(body), status, headers)
    answer = page(status, body)
    answer.headers.update(headers or {})
    return answer


def _opens_a_page(scope: Scope) -> bool:
    accepts = "text/html" in Headers(scope=scope).get("accept", "")
    return accepts and not str(scope["path"]).startswith(scope["app"].state.no_pages)
