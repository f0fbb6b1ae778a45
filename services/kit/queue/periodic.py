"""Periodic work of a process."""

import threading
from collections.abc import Callable

import structlog

from services.kit.errors import UnavailableError
from services.kit.observability import tracing

_log = structlog.get_logger()


class Periodic:
    """Thread that does the work soon after its start, and again after each pause.

    Work that returns True has more to do, and is repeated at once.
    """

    def __init__(
        self, name: str, work: Callable[[], object], *, every_s: float, first_after_s: float = 10.0
    ) -> None:
        self._name = name
        self._work = work
        self._every_s = every_s
        self._first_after_s = first_after_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; running work is waited for, but not for long."""
        self._stopping.set()
        self._thread.join(5.0)

    @property
    def is_alive(self) -> bool:
        """True while the thread runs."""
        return self._thread.is_alive()

    def _run(self) -> None:
        pause_s = self._first_after_s
        while not self._stopping.wait(pause_s):
            pause_s = self._every_s
            try:
                with tracing.entry(f"periodic {self._name}", tracing.TraceContext.parse("")):
                    pause_s = 0.0 if self._work() is True else self._every_s
            except UnavailableError as error:
                _log.warning("periodic.unavailable", work=self._name, reason=str(error))
            except Exception:  # noqa: BLE001 - the thread's entry point; the next time may do
                _log.exception("periodic.failed", work=self._name)
