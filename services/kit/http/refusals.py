"""How a refusal is answered: as JSON, or as a page to a browser that opened one."""

from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

ErrorPage = Callable[[Scope, int, Mapping[str, str]], Response]
"""A page for a request, a status and an error's body; an app with pages has it as
`state.error_page`, and in `state.no_pages` how the paths begin that answer programs alone."""

_CHALLENGE = "www-authenticate"


def refusal(
    scope: Scope, status: int, body: Mapping[str, str], headers: Mapping[str, str] | None = None
) -> Response:
    """The answer to a request that is refused."""
    page: ErrorPage | None = getattr(scope["app"].state, "error_page", None)
    told = dict(headers or {})
    if _CHALLENGE in told and page is not None and _is_of_a_page(scope):
        told[_CHALLENGE] = 'Bearer realm="FlowXpert"'
    if page is None or not _opens_a_page(scope):
        return JSONResponse(dict(body), status, told)
    answer = page(scope, status, body)
    answer.headers.update(told)
    return answer


def _is_of_a_page(scope: Scope) -> bool:
    """Whether a browser asks for a page or for what belongs to one.

    There is a page to sign in, and at `Basic` the browser would ask for a password before it.
    """
    headers = Headers(scope=scope)
    return _opens_a_page(scope) or "sec-fetch-mode" in headers or "cookie" in headers


def _opens_a_page(scope: Scope) -> bool:
    accepts = "text/html" in Headers(scope=scope).get("accept", "")
    return accepts and not str(scope["path"]).startswith(scope["app"].state.no_pages)
