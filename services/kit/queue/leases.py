"""Leases of running tasks, kept alive; and what of the outbox is measured."""

import threading
import time

import structlog

from services.kit.errors import UnavailableError
from services.kit.observability.metrics import OLDEST, OUTBOX
from services.kit.queue.outbox import Outbox

RENEW_S = 5.0
"""Pause between renewals of the leases, which last ten seconds or more, and counts of tasks."""

_log = structlog.get_logger()


class LeaseKeeper:
    """A thread that tells that this process is alive, and how many tasks wait for how long."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._known = set[str]()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="leases", daemon=True)

    def start(self) -> None:
        """Begin, with a count."""
        self._thread.start()

    def stop(self) -> None:
        """End; leases run out from now on."""
        self._stopping.set()
        self._thread.join(RENEW_S)

    @property
    def is_alive(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive()

    def tend(self) -> None:
        """Prolong the leases, and set the gauges."""
        self._outbox.renew()
        for state, count in self._outbox.counts().items():
            OUTBOX.labels(state).set(count)
        now, waiting = time.time(), {each.task: each.since for each in self._outbox.waiting()}
        self._known |= waiting.keys()
        for task in self._known:
            OLDEST.labels(task).set(max(0.0, now - waiting.get(task, now)))

    def _run(self) -> None:
        while True:
            try:
                self.tend()
            except UnavailableError as error:
                _log.warning("leases.unavailable", reason=str(error))
            except Exception:  # noqa: BLE001 - the thread's entry point; the next time may do
                _log.exception("leases.failed")
            if self._stopping.wait(RENEW_S):
                return
