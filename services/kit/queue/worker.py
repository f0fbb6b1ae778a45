"""Workers that take tasks straight from the outbox: no broker stands between."""

import threading

import structlog

from services.kit.errors import UnavailableError
from services.kit.queue.outbox import RETRY_S, Outbox

POLL_S = 1.0
"""Pause between looks at the outbox when no put wakes the worker: retries, puts elsewhere."""

_log = structlog.get_logger()


class OutboxWorker:
    """A thread that runs the tasks of one room, one at a time.

    Give each room its own, so that a long ingest does not hold up a ticket.
    """

    def __init__(self, outbox: Outbox, room: str) -> None:
        self._outbox = outbox
        self._room = room
        self._wake = outbox.listen()
        self._retiring = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"worker-{room}", daemon=True)

    def start(self) -> None:
        """Begin to work, first of all on what is due."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive()

    def retire(self) -> None:
        """Take no more tasks; the current one goes on."""
        self._retiring.set()
        self._wake.set()

    def stop(self, timeout: float = 10.0) -> None:
        """Take no more tasks and wait for the current one; the outbox keeps what is left."""
        self.retire()
        self.join(timeout)

    def join(self, timeout: float) -> None:
        """Wait for the end of the current task, but not for longer."""
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _work(self) -> None:
        while True:
            self._wake.clear()  # before the look: what is put meanwhile wakes it again
            if self._retiring.is_set():
                return
            try:
                if self._outbox.run_next(self._room):
                    continue
            except UnavailableError as error:
                _log.warning("outbox.unavailable", reason=str(error))
                self._retiring.wait(RETRY_S)
            except Exception:  # noqa: BLE001 - the thread's entry point; the lease runs out
                _log.exception("worker.failed", room=self._room)
            self._wake.wait(POLL_S)
