"""Events of a run: the log is append-only, and the state follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from services.execution.event_store import LoggedEvent

StepVisit = tuple[str, int]
"""A step and the number of its visit."""


class RunEventKind(StrEnum):
    """Kind of an event of a run."""

    STARTED = "started"
    ENTERED = "entered"
    """A step was entered."""
    OBSERVED = "observed"
    """A tool answered.

    Facts: purpose, tool, target, arguments, shown, fields, lines, is_cut.
    """
    NOT_OBSERVED = "not_observed"
    """A look failed. Facts: purpose, tool, target, arguments, shown, why, is_final."""
    PREPARED = "prepared"
    """A change is about to be sent. Facts: digest, tool, target, arguments, shown."""
    SENT = "sent"
    """The change is being sent, never to be sent again. Facts: as of `prepared`."""
    CHANGED = "changed"
    """The change was answered. Facts: as of `prepared`, and purpose (`do`), fields, lines."""
    NOT_SENT = "not_sent"
    """The change cannot have reached the target. Facts: as of `prepared`, and why."""
    UNKNOWN = "unknown"
    """The change may have been sent, with unknown effect. Facts: as of `prepared`, and why."""
    APPROVAL_REQUESTED = "approval_asked"
    """An approval was requested.

    Facts: as of `prepared`, and expires_at, undo (a tool, or empty), simulated (lines), passages
    (of the page), definition (digest of what the catalogue says of tool and target), warnings; of a
    request that is made again also why, and differences.
    """
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    """The approval expired: that counts as a refusal."""
    REVISED = "revised"
    """The run goes on with what catalogue, ticket and page say now; the approval here is void.

    Facts: the `Basis` that is new, and differences.
    """
    RENEWED = "renewed"
    """A change that was surely not sent begins anew.

    Facts: keeps_approval (it still holds), why.
    """
    QUESTION_RAISED = "asked"
    """A question for a person was raised.

    Facts: what (`QuestionKind`), text, options, evidence; of `fill` also fills.
    """
    ANSWERED = "answered"
    """A person answered. Facts: option, arguments, word; with arguments also by_id."""
    DECIDED = "decided"
    """A question was decided.

    Facts: answer, by (`evidence`, `person`, `ticket`, `page`), evidence; by evidence also told
    (values by field), tests (in words, by answer), fields, seen (the look's `seq`).
    """
    VERIFIED = "verified"
    NOT_VERIFIED = "not_verified"
    LEFT = "left"
    """A step was left. Facts: to, how (`done`, `seen`, `by_person`, `skipped`)."""
    UNDOING = "undoing"
    """The rollback of changes began, the last one first."""
    UNDONE = "undone"
    PAUSED = "paused"
    RESUMED = "resumed"
    TAKEN_OVER = "taken_over"
    """A person goes on by hand; the run ends. Facts: outcome, why."""
    STOPPING = "stopping"
    """A person ends the run while a change is being sent: it ends once that has an end.

    Facts: outcome, why.
    """
    ENDED = "ended"
    """The run ended. Facts: outcome, why."""


ACTS_OF_PEOPLE = frozenset(
    {
        RunEventKind.STARTED,
        RunEventKind.APPROVED,
        RunEventKind.DENIED,
        RunEventKind.ANSWERED,
        RunEventKind.PAUSED,
        RunEventKind.RESUMED,
        RunEventKind.TAKEN_OVER,
        RunEventKind.STOPPING,
    }
)
"""Kinds of events that people cause."""
AUDITED = ACTS_OF_PEOPLE | {
    RunEventKind.SENT,
    RunEventKind.CHANGED,
    RunEventKind.NOT_SENT,
    RunEventKind.UNKNOWN,
    RunEventKind.ENDED,
}
"""Kinds of events that go into the audit log too."""


class QuestionKind(StrEnum):
    """Kind of a question to a person."""

    DECIDE = "decide"
    """The answer of a workflow's question."""
    DO = "do"
    """A step to do by hand."""
    FILL = "fill"
    """Arguments to fill in."""
    UNKNOWN = "unknown"
    """Decision if a change that may have been sent was made."""
    FAILED = "failed"
    """Decision about a change that did not show."""


class Event(LoggedEvent):
    """Event of a run."""

    kind: RunEventKind
    step: str = ""
    visit: int = 0
    """Number of the visit to the step."""


@dataclass(frozen=True)
class NewEvent:
    """An event to be added."""

    kind: RunEventKind
    place: StepVisit = ("", 0)
    facts: Mapping[str, object] = field(default_factory=dict)
    by: str = ""

    @property
    def columns(self) -> dict[str, str | int]:
        """See `AppendableEvent.columns`."""
        return {"step": self.place[0], "visit": self.place[1]}
