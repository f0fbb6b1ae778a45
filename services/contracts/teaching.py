"""Teaching: whose work changes what others are shown, and what of it is taken back."""

from datetime import datetime
from typing import Protocol

from pydantic import Field

from services.kit.value import Value


class TeacherSummary(Value):
    """Teaching by one caller."""

    caller: str
    """Name of the caller."""
    teacher: str
    """Person or source that they count as; the same for all keys of one person."""
    subjects: int
    """Number of tickets and pages that they taught by."""
    beyond: int
    """Number of those beyond the bound of a day, which do not count."""
    latest_at: datetime
    withdrawn_at: datetime | None = None
    """Time up to which their teaching is taken back; None if none is."""


class TeachingWithdrawal(Value):
    """Caller whose teaching is taken back."""

    caller: str = Field(min_length=1, max_length=400)
    """Name or id of a caller, or the person who holds several keys."""


class Teaching(Protocol):
    """Account of whose work the platform learns from."""

    def teachers(self) -> list[TeacherSummary]:
        """Return the callers who taught, the latest first."""

    def withdraw(self, withdrawal: TeachingWithdrawal) -> list[TeacherSummary]:
        """Take back all that a caller taught so far, and return how it stands.

        Raises:
            NotFoundError: Nobody of that name or id has taught.
        """

    def restore(self, caller: str) -> list[TeacherSummary]:
        """Let count again what was taken back; raises as `withdraw` does."""
