"""How many bytes of request bodies one process holds at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers

from services.kit.errors import TooManyRequestsError


class BodyBudget:
    """A bound on the bodies of all requests together. For the event loop, not for threads."""

    def __init__(self, most_bytes: int) -> None:
        """A single body that is larger is let in while there is no other."""
        self._most = most_bytes
        self._held = 0

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Count a body of this size in, for as long as its request is answered.

        Raises:
            TooManyRequestsError: There is no room for it at present.
        """
        if self._held and size and self._held + size > self._most:
            raise TooManyRequestsError("too many large requests at a time: wait")
        self._held += size
        try:
            yield
        finally:
            self._held -= size


def body_size(headers: Headers, limit: int) -> int:
    """Bytes that the body may have: as many as it says, or as it is allowed."""
    length = headers.get("content-length", "")
    if length.isdecimal():
        return min(int(length[:20]), limit)
    return limit if "transfer-encoding" in headers else 0
