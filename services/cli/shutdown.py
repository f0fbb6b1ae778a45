"""Shutdown of a command that serves."""

import os
import signal
import sys
import time
from types import FrameType

BOTH = (signal.SIGINT, signal.SIGTERM)
_LOOK_EVERY_S = 1.0


class Shutdown:
    """Flag of a shutdown that has begun.

    A plain value: a handler that took a lock could wait for itself, where it comes while the same
    thread holds that lock, or upon another handler.
    """

    def __init__(self) -> None:
        self.has_begun = False

    def wait(self) -> None:
        """Wait until the shutdown begins; in the main thread, whose sleep a signal ends."""
        while not self.has_begun:
            time.sleep(_LOOK_EVERY_S)


def handle_signals() -> Shutdown:
    """Stop on SIGINT and SIGTERM alike; further signals change nothing.

    The shutdown is bounded in time, so that nobody needs to press twice. Wait for it on what is
    returned: the interrupt may come where a library swallows it.
    """
    stopping = Shutdown()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if not stopping.has_begun:
            stopping.has_begun = True
            raise KeyboardInterrupt

    # A shell without job control starts what goes to the background with SIGINT ignored.
    for number in BOTH:
        signal.signal(number, stop)
    return stopping


def ignore_signals() -> None:
    """Ignore signals at the very end: the interpreter drops its handlers before it is gone."""
    for number in BOTH:
        signal.signal(number, signal.SIG_IGN)


def exit_now() -> None:
    """End the process, whatever still runs in it: its work was given back, and is void here.

    A model must not be at work while the interpreter takes its modules down.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
