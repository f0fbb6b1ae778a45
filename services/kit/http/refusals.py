"""Refusals: JSON for programs, a page for a browser that opened one."""

from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

ErrorPage = Callable[[Scope, int, Mapping[str, str]], Response]
"""Renderer of a page for a request, a status and an error's body. An app with pages has it as
`state.error_page`, and in `state.no_pages` the path prefixes that answer programs only.
"""

_CHALLENGE = "www-authenticate"


def refusal(
    scope: Scope, status: int, body: Mapping[str, str], headers: Mapping[str, str] | None = None
) -> Response:
    """Build the answer to a request that is refused."""
    page: ErrorPage | None = getattr(scope["app"].state, "error_page", None)
    answer_headers = dict(headers or {})
    if _CHALLENGE in answer_headers and page is not None and _is_page_request(scope):
        answer_headers[_CHALLENGE] = 'Bearer realm="FlowXpert"'
    if page is None or not _opens_a_page(scope):
        return JSONResponse(dict(body), status, answer_headers)
    answer = page(scope, status, body)
    answer.headers.update(answer_headers)
    return answer


def _is_page_request(scope: Scope) -> bool:
    """Tell whether a browser requests a page or a part of one.

    There is a page to sign in, and at `Basic` the browser would ask for a password before it.
    """
    headers = Headers(scope=scope)
    return _opens_a_page(scope) or "sec-fetch-mode" in headers or "cookie" in headers


def _opens_a_page(scope: Scope) -> bool:
    accepts = "text/html" in Headers(scope=scope).get("accept", "")
    return accepts and not str(scope["path"]).startswith(scope["app"].state.no_pages)
