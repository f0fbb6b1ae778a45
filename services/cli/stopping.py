"""How a command that serves comes to its end."""

import os
import signal
import sys
import time
from types import FrameType

BOTH = (signal.SIGINT, signal.SIGTERM)
_LOOK_EVERY_S = 1.0


class Stopping:
    """Whether stopping has begun.

    A plain value: a handler that took a lock could wait for itself,
    where it comes while the same thread holds that lock, or upon another handler.
    """

    def __init__(self) -> None:
        self.has_begun = False

    def wait(self) -> None:
        """Return once it has begun; in the main thread, whose sleep a signal ends."""
        while not self.has_begun:
            time.sleep(_LOOK_EVERY_S)


def heed_signals() -> Stopping:
    """Stop on SIGINT and SIGTERM alike; once stopping has begun, further ones change nothing.

    The end is bounded in time, so that nobody needs to press twice. Whoever waits for it waits for
    what is returned: the interrupt may come where a library swallows it.
    """
    stopping = Stopping()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if not stopping.has_begun:
            stopping.has_begun = True
            raise KeyboardInterrupt

    # A shell without job control starts what goes to the background with SIGINT ignored.
    for number in BOTH:
        signal.signal(number, stop)
    return stopping


def ignore_signals() -> None:
    """For the very end: the interpreter gives its handlers up before it is gone."""
    for number in BOTH:
        signal.signal(number, signal.SIG_IGN)


def leave_now() -> None:
    """End the process, whatever still runs in it: its work was given back, and is void here.

    A model must not be at work while the interpreter takes its modules down.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
