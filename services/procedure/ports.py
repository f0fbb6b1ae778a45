"""What is served of the readings, and the port of the store that keeps them."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from services.procedure.model import Reading


class ReadingState(StrEnum):
    """How far a procedure is to be trusted."""

    READ = "read"
    APPROVED = "approved"
    """A person has checked it."""


class Approval(BaseModel):
    """Who vouches for a procedure, since when."""

    model_config = ConfigDict(frozen=True)

    by: str
    at: datetime


class ServedReading(BaseModel):
    """The best reading of a text there is: approved > a person's > model > imported > rules."""

    model_config = ConfigDict(frozen=True)

    reading: Reading
    approvals: tuple[Approval | None, ...] = ()
    """By the place of the procedure; missing ones are not approved."""
    was_approved: bool = False
    """Whether an earlier text of the page was approved and this one is not: it has changed."""

    def state(self, place: int) -> ReadingState:
        """Of the procedure at that place."""
        approved = place < len(self.approvals) and self.approvals[place] is not None
        return ReadingState.APPROVED if approved else ReadingState.READ


class ReadingSource(Protocol):
    """Where readings are looked up: all that retrieval needs of the store."""

    def served_many(self, text_hashes: Sequence[str]) -> dict[str, ServedReading]:
        """By text hash; texts that nobody has read are left out."""
