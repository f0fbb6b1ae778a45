"""Dead letters: tasks that the queue has given up, and putting them back to work."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.kit.value import Value

MOST_KEYS = 1000


class DeadLetter(Value):
    """A task that failed as often as it may, or ended its process each time."""

    key: str
    task: str
    """What was to be done, such as `gateway.walk_ticket`."""
    ticket_id: str | None = None
    """The ticket that it is about, if it is about one."""
    reason: str
    attempts: int
    created_at: datetime
    since: datetime
    """When it was given up."""


class DeadLetters(Value):
    """The first of them, those that wait longest."""

    letters: tuple[DeadLetter, ...]
    total: int
    """How many there are."""


class RetryLetters(BaseModel):
    """Which of them are put back to work: these, or all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: tuple[str, ...] = Field(default=(), max_length=MOST_KEYS)
    all: bool = False

    @model_validator(mode="after")
    def _is_said(self) -> Self:
        if bool(self.keys) == self.all:
            raise ValueError('expected either "keys" or "all": true')
        return self


class RetriedLetters(Value):
    """What is back at work."""

    retried: tuple[str, ...]
    """Keys. One that is not among them was no dead letter, or is none any more."""
