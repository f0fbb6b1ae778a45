"""What happens in a run: events are added and never changed; the rest follows from them."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from services.kit.value import Value


class Kind(StrEnum):
    """What can happen."""

    STARTED = "started"
    ENTERED = "entered"
    """A step was come to."""
    OBSERVED = "observed"
    """A tool told something. Facts: purpose, tool, target, arguments, shown, fields,
    lines, is_cut."""
    NOT_OBSERVED = "not_observed"
    """A look failed. Facts: purpose, tool, target, arguments, shown, why, is_final."""
    PREPARED = "prepared"
    """A change is about to be sent. Facts: digest, tool, target, arguments, shown."""
    SENT = "sent"
    """It is being sent: from here on it is never sent again. Facts: as of `prepared`."""
    CHANGED = "changed"
    """It was sent, and answered. Facts: as of `prepared`, and purpose (`do`), fields, lines."""
    NOT_SENT = "not_sent"
    """Surely nothing reached the target. Facts: as of `prepared`, and why."""
    UNKNOWN = "unknown"
    """It may have been sent, and what came of it is not known. Facts: as of `prepared`, and why."""
    APPROVAL_ASKED = "approval_asked"
    """Facts: as of `prepared`, and expires_at, undo (a tool, or empty), simulated (lines)."""
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    """Nobody approved in time: that is a refusal."""
    ASKED = "asked"
    """A person is asked. Facts: what (`Asking`), text, options, evidence; of `fill` also fills."""
    ANSWERED = "answered"
    """Facts: option, arguments, word."""
    DECIDED = "decided"
    """Which answer of a question holds. Facts: answer, by (`evidence`, `person`, `ticket`, `page`),
    evidence; by evidence also told (values by field), tests (in words, by answer), fields, seen
    (the look's `seq`)."""
    VERIFIED = "verified"
    NOT_VERIFIED = "not_verified"
    LEFT = "left"
    """A step was gone on from. Facts: to, how (`done`, `seen`, `by_person`, `skipped`)."""
    UNDOING = "undoing"
    """Changes are taken back, the last one first."""
    UNDONE = "undone"
    PAUSED = "paused"
    RESUMED = "resumed"
    TAKEN_OVER = "taken_over"
    """A person goes on by hand; the run ends."""
    ENDED = "ended"
    """Facts: outcome, why."""


PEOPLE = frozenset(
    {
        Kind.STARTED,
        Kind.APPROVED,
        Kind.DENIED,
        Kind.ANSWERED,
        Kind.PAUSED,
        Kind.RESUMED,
        Kind.TAKEN_OVER,
    }
)
"""What somebody does."""
AUDITED = PEOPLE | {Kind.SENT, Kind.CHANGED, Kind.NOT_SENT, Kind.UNKNOWN, Kind.ENDED}
"""What goes into the audit log too."""


class Asking(StrEnum):
    """What a person is asked."""

    DECIDE = "decide"
    """Which answer holds."""
    DO = "do"
    """To do a step by hand."""
    FILL = "fill"
    """To fill in arguments."""
    UNKNOWN = "unknown"
    """Whether a change that may have been sent was made."""
    FAILED = "failed"
    """What to do about a change that did not show."""


class Event(Value):
    """One thing that happened in a run."""

    seq: int
    """1, 2, 3, … in its run."""
    kind: Kind
    at: float
    """Seconds since the epoch, by the run's clock."""
    by: str = ""
    """Who; empty: the executor."""
    step: str = ""
    visit: int = 0
    """How often the step has been come to."""
    facts: dict[str, Any] = Field(default={})
