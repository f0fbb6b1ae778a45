"""A clock: the machine's, or a faster one that a simulated world shares with its processes."""

import json
import time
from pathlib import Path

from services.kit.value import Value

FILE = "clock.json"
"""File name in the folder of a simulated world."""


class Clock(Value):
    """Clock in seconds since the epoch; from `begins_at` on it runs `speed` times as fast."""

    begins_at: float = 0.0
    speed: float = 1.0

    def now(self) -> float:
        """Return the time."""
        return self.begins_at + (time.time() - self.begins_at) * self.speed

    def real_seconds(self, seconds: float) -> float:
        """Convert seconds of this clock to seconds of the machine's."""
        return seconds / self.speed

    @classmethod
    def of_folder(cls, folder: Path | None) -> "Clock":
        """Load the clock of a simulated world; the machine's if the folder has none."""
        path = folder / FILE if folder else None
        if path is None or not path.exists():
            return cls()
        return cls.model_validate(json.loads(path.read_text()))

    def write(self, folder: Path) -> None:
        """Save the clock for the other processes of the simulated world."""
        (folder / FILE).write_text(self.model_dump_json())
