"""The audit log as it is read."""

from datetime import datetime
from typing import Any

from services.kit.value import Value


class AuditLine(Value):
    """One change."""

    id: int
    at: datetime
    who: str
    kind: str
    """How the caller was known: `key`, `person`, `source`, `local`, `platform`."""
    caller_id: str
    """Of the key or person; it stays the same when names change."""
    action: str
    """Such as `reading.approved`."""
    subject: str
    """What was changed, such as `ticket <id>`."""
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    request_id: str
    """`X-Request-Id` of the request, or of the one that a worker goes on with."""


class AuditPage(Value):
    """Lines, the latest first."""

    lines: tuple[AuditLine, ...]
    next_below: int | None = None
    """Ask with `below` this for the next page; None at the end."""
