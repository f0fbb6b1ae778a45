"""Dead letters: tasks that the queue has given up, and their retry."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.kit.value import Value

MOST_KEYS = 1000


class DeadLetter(Value):
    """A task that failed, or killed its process, as often as it may."""

    key: str
    task: str
    """Name of the task, such as `gateway.walk_ticket`."""
    ticket_id: str | None = None
    """Ticket that the task is about, if any."""
    reason: str
    attempts: int
    created_at: datetime
    since: datetime
    """Time at which the queue gave it up."""


class DeadLetters(Value):
    """The dead letters that have waited longest."""

    letters: tuple[DeadLetter, ...]
    total: int
    """Number of all dead letters."""


class RetryLetters(BaseModel):
    """Request to retry dead letters: the named ones, or all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: tuple[str, ...] = Field(default=(), max_length=MOST_KEYS)
    all: bool = False

    @model_validator(mode="after")
    def _check_selection(self) -> Self:
        if bool(self.keys) == self.all:
            raise ValueError('expected either "keys" or "all": true')
        return self


class RetriedLetters(Value):
    """Dead letters that were queued again."""

    retried: tuple[str, ...]
    """Keys of these; a requested key that is missing here was not, or no longer, a dead letter."""
