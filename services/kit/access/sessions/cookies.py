"""The cookies of signing in: their names, contents and restriction to TLS."""

import re

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope as Request

SESSION_PREFIX = "fs_"
_SESSION = re.compile(rf"{SESSION_PREFIX}[A-Za-z0-9_-]{{43}}\Z")
_NAME = "flowxpert-session"


class Cookies:
    """Reader and writer of the sign-in cookies.

    Over TLS their names begin with `__Host-`, which browsers hold to this host and to TLS: no other
    host, and nobody on the way, can put one in their place.
    """

    def __init__(self, public_url: str | None) -> None:
        """Take the public URL, which decides about TLS; without one each request does."""
        self._public_url = public_url

    def is_secure(self, request: Request) -> bool:
        """Tell whether the browser came over TLS."""
        seen = self._public_url or f"{request.get('scheme', 'http')}:"
        return seen.lower().startswith("https:")

    def session(self, request: Request) -> str | None:
        """Return the session id of a browser; empty if malformed, None without a cookie."""
        session_id = self.read(request, _NAME)
        return session_id if session_id is None or _SESSION.match(session_id) else ""

    def set_session(self, request: Request, answer: Response, session_id: str, age_s: int) -> None:
        """Set the cookie with the session's id."""
        self.write(request, answer, _NAME, session_id, age_s)

    def drop_session(self, request: Request, answer: Response) -> None:
        """Delete the cookie with the session's id."""
        self.write(request, answer, _NAME, "", 0)

    def read(self, request: Request, name: str) -> str | None:
        """Return the value of a cookie; None if there is none, or two of that name."""
        wanted = self._full_name(request, name)
        pairs = ";".join(Headers(scope=request).getlist("cookie")).split(";")
        values = [
            value.strip()
            for key, _, value in (pair.partition("=") for pair in pairs)
            if key.strip() == wanted
        ]
        return values[0] if len(values) == 1 else None

    def write(self, request: Request, answer: Response, name: str, value: str, age_s: int) -> None:
        """Set a cookie for so many seconds, out of reach of scripts and other sites' forms."""
        answer.set_cookie(
            self._full_name(request, name),
            value,
            max_age=age_s,
            path="/",
            secure=self.is_secure(request),
            httponly=True,
            samesite="lax",
        )

    def _full_name(self, request: Request, name: str) -> str:
        return f"__Host-{name}" if self.is_secure(request) else name
