"""How long a job still takes, by the work that is left and not by the number of documents."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

_LOOKED_BACK = 0.3
"""Share of the time so far whose pace counts: long enough to be even, short enough to be now's."""
_STEADY_S = 5.0
"""Before so much time nothing is said: models are loaded and caches are cold."""


@dataclass
class TimeLeft:
    """Bytes of files are the work: nearly all of it grows with the text that is in them."""

    total: float
    now: Callable[[], float] = monotonic
    done: float = 0.0
    _marks: deque[tuple[float, float]] = field(default_factory=deque)
    """Moments in the order of time, each with what was done by then."""

    def __post_init__(self) -> None:
        self._marks.append((self.now(), 0.0))
        self._began = self._marks[0][0]

    def drop(self, size: float) -> None:
        """So much needs no work."""
        self.total -= size

    def add(self, size: float) -> None:
        """So much more is done."""
        self.done += size
        now = self.now()
        self._marks.append((now, self.done))
        oldest = now - max(_STEADY_S, (now - self._began) * _LOOKED_BACK)
        while len(self._marks) > 2 and self._marks[1][0] <= oldest:
            self._marks.popleft()

    @property
    def seconds(self) -> float | None:
        """None before there is a pace to speak of."""
        now = self.now()
        (since, before), (latest, done) = self._marks[0], self._marks[-1]
        if latest - self._began < _STEADY_S or done <= before:
            return None
        pace = (latest - since) / (done - before)
        return max(0.0, (self.total - self.done) * pace - (now - latest))
