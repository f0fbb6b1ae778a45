"""The audit log as clients read it."""

from datetime import datetime
from typing import Any

from services.kit.value import Value


class AuditLine(Value):
    """One change, as the audit log recorded it."""

    id: int
    at: datetime
    who: str
    kind: str
    """Kind of caller: `key`, `person`, `source`, `local` or `platform`."""
    caller_id: str
    """Id of the key or person; it stays the same when names change."""
    action: str
    """Name of the change, such as `reading.approved`."""
    subject: str
    """The thing that was changed, such as `ticket <id>`."""
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    request_id: str
    """`X-Request-Id` of the request, or of the request that a worker's task goes back to."""


class AuditPage(Value):
    """A page of lines, the latest first."""

    lines: tuple[AuditLine, ...]
    next_below: int | None = None
    """Value of `below` for the next page; None at the end."""
