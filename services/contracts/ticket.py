"""The ticket: what came in, in one shape whatever system sent it."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from services.kit.value import Value

RUNBOOK_LINKS = ("runbook_url", "runbook", "runbook_link", "runbookUrl")
"""Labels and annotations by which the author of an alert links its page."""


class TicketStatus(StrEnum):
    """Where a ticket stands on the walk."""

    RECEIVED = "received"
    PLANNING = "planning"
    PLANNED = "planned"
    """A workflow is stored."""
    REFUSED = "refused"
    """Nothing known fits; triage or a person goes on."""
    FAILED = "failed"
    """The walk broke for good; `Ticket.reason` says why."""
    HANDED_OVER = "handed_over"
    """A team has the ticket: triage found it, or a person chose it."""
    REJECTED = "rejected"
    """A person rejected its workflow, or followed it to a hand-over, and no team has it yet: one is
    to be chosen."""

    @property
    def is_final(self) -> bool:
        """Whether the walk is over."""
        return self not in {TicketStatus.RECEIVED, TicketStatus.PLANNING}


class Fit(StrEnum):
    """How surely the procedure of a workflow is the one for its ticket."""

    SURE = "sure"
    UNSURE = "unsure"
    """The closest that is known; what speaks against it is said beside it."""


class TicketDraft(Value):
    """A ticket as its source states it, before it is stored."""

    source: str
    external_id: str
    """The sender's own id; with `source` and `occurrence` it makes a delivery idempotent."""
    occurrence: str = ""
    """Tells the times apart at which the same thing broke, where the sender's id does not."""
    title: str
    description: str = ""
    labels: dict[str, str] = Field(default={})
    alert_name: str = ""
    severity: str = ""
    """`critical`, `high`, `warning`, `low` or `info`; a word of no known meaning as it came."""
    url: str = ""
    """Back to the ticket in its own system."""
    runbook_url: str = ""
    """The page that the alert's author linked; its anchor names the section that is meant."""
    service: str = ""
    """What is affected, as the source calls it."""
    teams: tuple[str, ...] = ()
    """Whom the source names as responsible; a hint, as teams go by other names elsewhere."""


class Ticket(TicketDraft):
    """A stored ticket."""

    id: str
    status: TicketStatus = TicketStatus.RECEIVED
    reason: str = ""
    created_at: datetime
    updated_at: datetime
    resolved_at: datetime | None = None
    """When its source said that the fault is over."""
    workflow_id: str | None = None
    """The best candidate, once one is stored."""
    overall: float | None = None
    """That candidate's overall score."""
    fit: Fit | None = None
    """How surely it fits."""
    against: tuple[str, ...] = ()
    """What speaks against it, in words; empty where it surely fits."""
    degraded: tuple[str, ...] = ()
    """What did not answer during its latest walk, which went on without: `vectors`, `graph`,
    `scorer` or `triage`."""
