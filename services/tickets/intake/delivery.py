"""Content of a delivery: tickets, ends of faults, comments."""

from dataclasses import dataclass

from services.contracts.gateway import RejectedItem
from services.contracts.ticket import TicketDraft
from services.tickets.ticket.comments import Comment


@dataclass(frozen=True)
class Resolution:
    """End of a fault that a source reported before."""

    source: str
    external_id: str
    occurrence: str
    """Occurrence that is over; empty for all that are open under the id."""


@dataclass(frozen=True)
class Ignored:
    """Event of a known source that tells of no fault, such as a test."""

    source: str
    reason: str


DeliveryItem = TicketDraft | Resolution | Comment | Ignored
"""Content of one item of a body."""


@dataclass(frozen=True)
class Delivery:
    """Content of one body: tickets, ends, comments, and items that cannot be used."""

    tickets: tuple[TicketDraft, ...] = ()
    resolved: tuple[Resolution, ...] = ()
    comments: tuple[Comment, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    rejected: tuple[RejectedItem, ...] = ()
    first_reports: frozenset[tuple[str, str, str]] = frozenset()
    """Keys of the tickets that their source has just opened: source, id and occurrence."""
