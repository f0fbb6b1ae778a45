"""The cookies of signing in: whether they are for TLS alone, how they are called, what they say."""

import re

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope as Request

SESSION_PREFIX = "fs_"
_SESSION = re.compile(rf"{SESSION_PREFIX}[A-Za-z0-9_-]{{43}}\Z")
_NAME = "flowxpert-session"


class Cookies:
    """Sets and reads cookies.

    Over TLS their names begin with `__Host-`, which browsers hold to this host and to TLS: no other
    host, and nobody on the way, can put one in their place.
    """

    def __init__(self, public_url: str | None) -> None:
        """Where people reach the platform says whether it is over TLS; else each request does."""
        self._public_url = public_url

    def is_secure(self, request: Request) -> bool:
        """Whether the browser came over TLS."""
        seen = self._public_url or f"{request.get('scheme', 'http')}:"
        return seen.lower().startswith("https:")

    def session(self, request: Request) -> str | None:
        """The session's id that a browser sends; empty where it cannot be one, None without any."""
        found = self.read(request, _NAME)
        return found if found is None or _SESSION.match(found) else ""

    def set_session(self, request: Request, answer: Response, session_id: str, age_s: int) -> None:
        """Give the browser its session's id."""
        self.write(request, answer, _NAME, session_id, age_s)

    def drop_session(self, request: Request, answer: Response) -> None:
        """Take it away."""
        self.write(request, answer, _NAME, "", 0)

    def read(self, request: Request, name: str) -> str | None:
        """What a cookie of ours says; None where the browser sends none, or two of that name."""
        wanted = self._full_name(request, name)
        pairs = ";".join(Headers(scope=request).getlist("cookie")).split(";")
        found = [
            value.strip()
            for key, _, value in (pair.partition("=") for pair in pairs)
            if key.strip() == wanted
        ]
        return found[0] if len(found) == 1 else None

    def write(self, request: Request, answer: Response, name: str, value: str, age_s: int) -> None:
        """Set a cookie for so many seconds, hidden from scripts and other sites' forms."""
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
