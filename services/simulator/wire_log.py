"""What the devices were sent, line by line: evidence that outlives a kill."""

import json
import re
import threading
from pathlib import Path

from services.kit.value import Value

_CHANGES = re.compile(
    r"clear |delete |restart |(?:no )?shutdown$|(?:no )?neighbor \S+ shutdown$|(?:no )?ip route "
)


class Sent(Value):
    """A line that a device was sent."""

    at: float
    device: str
    user: str
    line: str

    @property
    def is_change(self) -> bool:
        """Whether it changes the device."""
        return _CHANGES.match(self.line) is not None


class WireLog:
    """A file of lines, one JSON object each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def add(self, sent: Sent) -> None:
        """Write it down before it has an effect."""
        with self._lock, self.path.open("a") as file:
            file.write(sent.model_dump_json() + "\n")

    def sent(self) -> list[Sent]:
        """All of it, in order."""
        if not self.path.exists():
            return []
        return [Sent.model_validate(json.loads(line)) for line in self.path.open()]

    def changes(self) -> list[Sent]:
        """What changed something."""
        return [each for each in self.sent() if each.is_change]
