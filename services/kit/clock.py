"""A clock: the machine's, or a faster one that a simulated world shares with who works on it."""

import json
import time
from pathlib import Path

from services.kit.value import Value

FILE = "clock.json"
"""In the folder of a simulated world."""


class Clock(Value):
    """Tells seconds since the epoch; from `begins_at` on they pass `speed` times as fast."""

    begins_at: float = 0.0
    speed: float = 1.0

    def now(self) -> float:
        """The time."""
        return self.begins_at + (time.time() - self.begins_at) * self.speed

    def real(self, seconds: float) -> float:
        """How long so many of its seconds take."""
        return seconds / self.speed

    @classmethod
    def of_folder(cls, folder: Path | None) -> "Clock":
        """The one of a simulated world; the machine's where the folder has none."""
        path = folder / FILE if folder else None
        if path is None or not path.exists():
            return cls()
        return cls.model_validate(json.loads(path.read_text()))

    def write(self, folder: Path) -> None:
        """Let others tell the same time."""
        (folder / FILE).write_text(self.model_dump_json())
