"""How a command that serves comes to its end."""

import os
import signal
import sys
import threading
from types import FrameType

BOTH = (signal.SIGINT, signal.SIGTERM)


def heed_signals() -> threading.Event:
    """Stop on SIGINT and SIGTERM alike; once stopping has begun, further ones change nothing.

    The end is bounded in time, so that nobody needs to press twice. Whoever waits for it waits for
    the event: the interrupt may come where a library swallows it.
    """
    begun = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if not begun.is_set():
            begun.set()
            raise KeyboardInterrupt

    # A shell without job control starts what goes to the background with SIGINT ignored.
    for number in BOTH:
        signal.signal(number, stop)
    return begun


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
