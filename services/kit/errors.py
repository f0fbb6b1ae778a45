"""The error classes of all services, each with its HTTP status.

    FlowXpertError                500  a defect when it is not a subclass
    ├── InvalidInputError         422  what came cannot be used; ask differently
    │   └── PayloadTooLargeError  413
    ├── NotFoundError             404
    ├── ConflictError             409  the same key with other content
    ├── UnauthorizedError         401
    ├── ForbiddenError            403
    ├── TooManyRequestsError      429  one caller asks too often; retry later
    └── UnavailableError          503  a store, queue or model did not answer; retry later

Modules derive their own errors from these; a vendor's exception never leaves its adapter.
"""

import math
from typing import ClassVar


class FlowXpertError(Exception):
    """Base of every expected failure; its message says what was expected, what came, what to do."""

    name: ClassVar[str] = "FlowXpertError"
    """Name in answers, reports and logs: that of the class, unless the class states another."""
    status_code: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.name = cls.__dict__.get("name", cls.__name__)

    def body(self) -> dict[str, str]:
        """Return the response body that represents this error."""
        return {"error": self.name, "detail": str(self)}

    def headers(self) -> dict[str, str]:
        """Return the response headers that go with it."""
        return {"retry-after": "1"} if self.retryable else {}

    @staticmethod
    def schema() -> dict[str, object]:
        """Return the JSON schema of `body`, for OpenAPI."""
        return {
            "type": "object",
            "required": ["error", "detail"],
            "properties": {
                "error": {"type": "string", "description": "The class of the refusal."},
                "detail": {"type": "string", "description": "What was expected, and what came."},
            },
        }


class InvalidInputError(FlowXpertError):
    """The input cannot be used as it is."""

    status_code = 422


class PayloadTooLargeError(InvalidInputError):
    """The input exceeds a configured limit."""

    status_code = 413


class NotFoundError(FlowXpertError):
    """The requested thing does not exist."""

    status_code = 404


class ConflictError(FlowXpertError):
    """The same key was used before with other content."""

    status_code = 409


class UnauthorizedError(FlowXpertError):
    """The caller has not identified itself, or its key is wrong."""

    status_code = 401

    def headers(self) -> dict[str, str]:
        """Add the header that says how to authenticate (RFC 9110).

        Chromium looks at the first scheme of a header alone, and asks its user for `Basic`.
        """
        return {"www-authenticate": 'Basic realm="FlowXpert", Bearer realm="FlowXpert"'}


class ForbiddenError(FlowXpertError):
    """The caller is known and may not do this."""

    status_code = 403


class TooManyRequestsError(FlowXpertError):
    """The caller sends more requests than it may; the same one will be accepted later."""

    status_code = 429
    retryable = True

    def __init__(self, message: str, *, retry_after_s: float = 1.0) -> None:
        """Take the seconds after which the next request will be accepted."""
        super().__init__(message)
        self.retry_after_s = retry_after_s

    def headers(self) -> dict[str, str]:
        """Add `retry-after`, in whole seconds."""
        return {"retry-after": str(max(1, math.ceil(self.retry_after_s)))}


class UnavailableError(FlowXpertError):
    """A store, queue or model did not answer in time; the same call may succeed later."""

    status_code = 503
    retryable = True
