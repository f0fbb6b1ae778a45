"""How many requests one caller may send: token buckets in the memory of one process."""

import time
from collections import OrderedDict
from collections.abc import Callable

from services.kit.errors import TooManyRequestsError

_MOST_BUCKETS = 20_000
"""The one that was used longest ago goes first; a full one would be the same as none."""


class Buckets:
    """A bucket for each name. Not for use by several threads: the event loop asks it."""

    def __init__(
        self, per_s: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`per_s` of 0 limits nothing; `burst` requests may come at once."""
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, count: int = 1) -> None:
        """Count a request, or several; more than fit into the bucket need a full one.

        Raises:
            TooManyRequestsError: They are too many.
        """
        if not self._per_s:
            return
        now = self._clock()
        left, at = self._left.pop(name, (float(self._burst), now))
        left = min(self._burst, left + (now - at) * self._per_s)
        wanted = min(count, self._burst)
        fits = left >= wanted
        self._left[name] = (left - count if fits else left, now)
        if len(self._left) > _MOST_BUCKETS:
            self._left.popitem(last=False)
        if not fits:
            raise TooManyRequestsError(
                f"more than {self._per_s:g} requests a second: wait",
                retry_after_s=(wanted - left) / self._per_s,
            )
