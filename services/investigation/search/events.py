"""Events of a search: the log is append-only, and the tree follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from services.execution.event_store import LoggedEvent


class SearchEventKind(StrEnum):
    """Kind of an event of a search."""

    STARTED = "started"
    ANSWERED = "answered"
    """The model answered. Facts: stage, after, prompt, text, tokens."""
    NOT_ANSWERED = "not_answered"
    """The model did not answer. Facts: stage, prompt, why, is_final."""
    MISREAD = "misread"
    """An answer of the model cannot be used. Facts: stage, text, why."""
    OPENED = "opened"
    """A node was opened: an expert has a subtask.

    Facts: parent, expert, subtask, hypothesis, why, asked_by; of a new hypothesis its text as
    `supposes`.
    """
    CALLED = "called"
    """The expert chose its look. Facts: tool, target, arguments, shown, why."""
    OBSERVED = "observed"
    """The look succeeded. Facts: as of `called`, and fields, lines, is_cut."""
    NOT_OBSERVED = "not_observed"
    """The look failed. Facts: as of `called`, and why."""
    REFLECTED = "reflected"
    """The expert stated findings. Facts: findings (each with why it is struck, or empty), why."""
    SETTLED = "settled"
    """The node got its final state. Facts: state, why, is_cut."""
    MOVED = "moved"
    """The search moved to another point. Facts: to, why, is_back."""
    PRUNED = "pruned"
    REQUESTED = "requested"
    """A person asked for a look. Facts: what, expert."""
    PAUSED = "paused"
    RESUMED = "resumed"
    TAKEN_OVER = "taken_over"
    ENDED = "ended"
    """The search ended. Facts: outcome, why, answer."""


AUDITED = frozenset(
    {
        SearchEventKind.STARTED,
        SearchEventKind.CALLED,
        SearchEventKind.PRUNED,
        SearchEventKind.REQUESTED,
        SearchEventKind.PAUSED,
        SearchEventKind.RESUMED,
        SearchEventKind.TAKEN_OVER,
        SearchEventKind.ENDED,
    }
)
"""Kinds of events that go into the audit log too."""


class Stage(StrEnum):
    """Stage of the search for which the model is asked."""

    PLAN = "plan"
    ACT = "act"
    REFLECT = "reflect"


class Event(LoggedEvent):
    """Event of a search."""

    kind: SearchEventKind
    node: int = 0


@dataclass(frozen=True)
class NewSearchEvent:
    """An event to be added."""

    kind: SearchEventKind
    node: int = 0
    facts: Mapping[str, object] = field(default_factory=dict)
    by: str = ""

    @property
    def columns(self) -> dict[str, str | int]:
        """See `AppendableEvent.columns`."""
        return {"node": self.node}
