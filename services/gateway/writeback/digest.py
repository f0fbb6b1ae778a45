"""What those who look after pages are told once a week."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Digest:
    """One week's."""

    week: str
    """As `2026-W48`."""
    headline: str
    lines: tuple[str, ...]
    pages: tuple[dict[str, Any], ...]
    """For programs: `PageToMend` as JSON."""
    url: str
    """Where people read it; empty where nobody said how they reach FlowXpert."""

    @property
    def text(self) -> str:
        """For people, a line for each thing."""
        return "\n".join((self.headline, *self.lines))
