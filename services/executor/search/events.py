"""What happens in a search: events are added and never changed; the tree follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import Field

from services.kit.value import Value


class Kind(StrEnum):
    """What can happen."""

    STARTED = "started"
    ANSWERED = "answered"
    """The model answered. Facts: stage, after, prompt, text, tokens."""
    NOT_ANSWERED = "not_answered"
    """It did not. Facts: stage, prompt, why, is_final."""
    MISREAD = "misread"
    """Its answer cannot be used. Facts: stage, text, why."""
    OPENED = "opened"
    """A node: an expert has a subtask. Facts: parent, expert, subtask, hypothesis, why, asked_by;
    of a new hypothesis its text as `supposes`."""
    CALLED = "called"
    """What the expert looks at. Facts: tool, target, arguments, shown, why."""
    OBSERVED = "observed"
    """Facts: as of `called`, and fields, lines, is_cut."""
    NOT_OBSERVED = "not_observed"
    """The look failed. Facts: as of `called`, and why."""
    REFLECTED = "reflected"
    """Facts: findings (each with why it is struck, or empty), why."""
    SETTLED = "settled"
    """What became of the node. Facts: state, why, is_cut."""
    MOVED = "moved"
    """The search stands at another point. Facts: to, why, is_back."""
    PRUNED = "pruned"
    REQUESTED = "requested"
    """Somebody wants something looked at. Facts: what, expert."""
    PAUSED = "paused"
    RESUMED = "resumed"
    TAKEN_OVER = "taken_over"
    ENDED = "ended"
    """Facts: outcome, why, answer."""


AUDITED = frozenset(
    {
        Kind.STARTED,
        Kind.CALLED,
        Kind.PRUNED,
        Kind.REQUESTED,
        Kind.PAUSED,
        Kind.RESUMED,
        Kind.TAKEN_OVER,
        Kind.ENDED,
    }
)
"""What goes into the audit log too."""


class Stage(StrEnum):
    """What the model is asked."""

    PLAN = "plan"
    ACT = "act"
    REFLECT = "reflect"


class Event(Value):
    """One thing that happened in a search."""

    seq: int
    """1, 2, 3, … in its search."""
    kind: Kind
    at: float
    """Seconds since the epoch, by the executor's clock."""
    by: str = ""
    """Who; empty: the executor."""
    node: int = 0
    facts: dict[str, Any] = Field(default={})


@dataclass(frozen=True)
class NewEvent:
    """An event that is to be added."""

    kind: Kind
    node: int = 0
    facts: Mapping[str, object] = field(default_factory=dict)
    by: str = ""
