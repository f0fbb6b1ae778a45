"""The ticket, in one shape for all source systems."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from services.kit.value import Value

RUNBOOK_LINKS = ("runbook_url", "runbook", "runbook_link", "runbookUrl")
"""Labels and annotations by which the author of an alert links its page."""


class TicketStatus(StrEnum):
    """Status of a ticket on its walk."""

    RECEIVED = "received"
    PLANNING = "planning"
    PLANNED = "planned"
    """A workflow is stored."""
    REFUSED = "refused"
    """No known procedure fits; triage or a person continues."""
    FAILED = "failed"
    """The walk failed for good; `Ticket.reason` says why."""
    HANDED_OVER = "handed_over"
    """A team has the ticket: triage or a person chose it."""
    REJECTED = "rejected"
    """A person rejected its workflow, or followed it to a hand-over, and no team has the ticket
    yet.
    """

    @property
    def is_final(self) -> bool:
        """True if the walk is over."""
        return self not in {TicketStatus.RECEIVED, TicketStatus.PLANNING}


class Fit(StrEnum):
    """Confidence that the procedure of a workflow is the right one for its ticket."""

    SURE = "sure"
    UNSURE = "unsure"
    """The closest known procedure; the reasons against it are given beside it."""


class TicketDraft(Value):
    """A ticket as its source states it, before it is stored."""

    source: str
    external_id: str
    """The sender's own id; with `source` and `occurrence` it makes a delivery idempotent."""
    occurrence: str = ""
    """Distinguishes the times at which the same thing broke, if the sender's id does not."""
    title: str
    description: str = ""
    labels: dict[str, str] = Field(default={})
    alert_name: str = ""
    severity: str = ""
    """`critical`, `high`, `warning`, `low` or `info`; an unknown severity as it came."""
    url: str = ""
    """Link to the ticket in its own system."""
    runbook_url: str = ""
    """The page that the alert's author linked; its anchor names the section that is meant."""
    service: str = ""
    """The affected service, by the source's name."""
    teams: tuple[str, ...] = ()
    """Teams that the source names as responsible: a hint, as teams have other names elsewhere."""


class PurgedTickets(Value):
    """Tickets that were purged: whoever keeps something of them deletes it."""

    ids: tuple[str, ...] = Field(max_length=1000)


class Ticket(TicketDraft):
    """A stored ticket."""

    id: str
    status: TicketStatus = TicketStatus.RECEIVED
    reason: str = ""
    created_at: datetime
    updated_at: datetime
    resolved_at: datetime | None = None
    """Time at which its source reported that the fault is over."""
    workflow_id: str | None = None
    """The best candidate, once one is stored."""
    overall: float | None = None
    """Overall score of that candidate."""
    fit: Fit | None = None
    """Confidence that that candidate's procedure is the right one."""
    against: tuple[str, ...] = ()
    """Reasons, in words, against it; empty if it surely fits."""
    degraded: tuple[str, ...] = ()
    """Services that did not answer during its latest walk, which went on without them: `vectors`,
    `graph`, `scorer` or `triage`.
    """
