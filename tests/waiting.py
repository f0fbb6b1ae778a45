"""Waiting for what is named, where it happens in another thread or process."""

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")

HAPPENS_WITHIN_S = 60.0
"""Far more than anything takes that is waited for; it only ends a test that would never end."""


def eventually(
    look: Callable[[], Seen],
    holds: Callable[[Seen], object] = bool,
    *,
    within_s: float = HAPPENS_WITHIN_S,
) -> Seen:
    """Look again and again, and return the first sight that holds."""
    until = time.monotonic() + within_s
    while not holds(seen := look()):
        assert time.monotonic() < until, f"it did not happen in {within_s:g} s: {seen!r}"
        time.sleep(0.05)
    return seen
