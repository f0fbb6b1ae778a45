"""The ticket: what came in, in one shape whatever system sent it."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict


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


class TicketDraft(BaseModel):
    """A ticket as its source states it, before it is stored."""

    model_config = ConfigDict(frozen=True)

    source: str
    external_id: str
    """The sender's own id; with `source` it makes a delivery idempotent."""
    title: str
    description: str = ""
    labels: dict[str, str] = {}
    alert_name: str = ""
    severity: str = ""
    url: str = ""


class Ticket(TicketDraft):
    """A stored ticket."""

    id: str
    status: TicketStatus = TicketStatus.RECEIVED
    reason: str = ""
    created_at: datetime
    updated_at: datetime
