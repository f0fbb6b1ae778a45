"""The threads of a process: workers on its queues, leases, periodic work; and their shutdown."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import structlog

from services.kit.errors import UnavailableError
from services.kit.observability import tracing
from services.kit.observability.metrics import OLDEST, OUTBOX
from services.kit.queue.outbox import RETRY_S, Outbox, QueueUnavailableError

POLL_S = 1.0
"""Pause between looks at the outbox when no put wakes the worker: retries, puts elsewhere."""

_log = structlog.get_logger()


class WorkThread(ABC):
    """A thread of a process that runs until it is stopped."""

    def __init__(self, name: str) -> None:
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """True while the thread runs."""
        return self._thread.is_alive()

    @abstractmethod
    def stop(self) -> None:
        """Stop the thread; running work is waited for, but not for long."""

    @abstractmethod
    def _run(self) -> None:
        """Work until it is stopped."""


class Worker(WorkThread):
    """A thread that runs tasks, one at a time."""

    @abstractmethod
    def retire(self) -> None:
        """Take no more tasks; the current one continues."""

    def join(self, timeout: float) -> None:
        """Wait for the current task, but not longer than the timeout."""
        if self._thread.is_alive():
            self._thread.join(timeout)

    def stop(self, timeout: float = 10.0) -> None:
        """Take no more tasks and wait for the current one; the outbox keeps what is left."""
        self.retire()
        self.join(timeout)


class OutboxWorker(Worker):
    """Thread that runs the tasks of one room, one at a time.

    Give each room its own, so that a long ingest does not hold up a ticket.
    """

    def __init__(self, outbox: Outbox, room: str) -> None:
        super().__init__(f"worker-{room}")
        self._outbox = outbox
        self._room = room
        self._wake = outbox.listen()
        self._retiring = threading.Event()

    def retire(self) -> None:
        """Take no more tasks; the current one continues."""
        self._retiring.set()
        self._wake.set()

    def _run(self) -> None:
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


RENEW_S = 5.0
"""Pause between renewals of the leases, which last ten seconds or more, and counts of tasks."""


class LeaseKeeper(WorkThread):
    """Thread that renews the leases of this process and measures the outbox."""

    def __init__(self, outbox: Outbox) -> None:
        super().__init__("leases")
        self._outbox = outbox
        self._task_names = set[str]()
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Stop the thread; leases expire from now on."""
        self._stopping.set()
        self._thread.join(RENEW_S)

    def tend(self) -> None:
        """Renew the leases and set the gauges."""
        self._outbox.renew()
        for state, count in self._outbox.counts().items():
            OUTBOX.labels(state).set(count)
        now, waiting = time.time(), {each.task: each.since for each in self._outbox.waiting()}
        self._task_names |= waiting.keys()
        for task in self._task_names:
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


class Periodic(WorkThread):
    """Thread that does the work soon after its start, and again after each pause.

    Work that returns True has more to do, and is repeated at once.
    """

    def __init__(
        self, name: str, work: Callable[[], object], *, every_s: float, first_after_s: float = 10.0
    ) -> None:
        super().__init__(name)
        self._name = name
        self._work = work
        self._every_s = every_s
        self._first_after_s = first_after_s
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Stop the thread; running work is waited for, but not for long."""
        self._stopping.set()
        self._thread.join(5.0)

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


class Workforce:
    """The workers of a process, the threads that bring them tasks, and periodic work."""

    def __init__(
        self,
        outbox: Outbox,
        workers: Sequence[Worker],
        *others: WorkThread | None,
        stop_within_s: float,
        relay: WorkThread | None = None,
    ) -> None:
        """Take the threads, and the seconds that running tasks get at a stop.

        `relay` brings tasks to workers that do not poll the outbox, in this process or another.
        """
        self._outbox = outbox
        self._workers = workers
        leases = LeaseKeeper(outbox)
        self._carriers: list[WorkThread] = [leases, relay] if relay else [leases]
        self._others = [other for other in others if other is not None]
        self._all: list[WorkThread] = [*workers, *self._carriers, *self._others]
        self._stop_within_s = stop_within_s
        self._stop_by: float | None = None

    def start(self) -> None:
        """Start all threads.

        Raises:
            QueueUnavailableError: The broker did not answer.
        """
        for thread in self._all:
            thread.start()

    @property
    def is_alive(self) -> bool:
        """True while every thread runs."""
        return all(each.is_alive for each in self._all)

    @property
    def is_working(self) -> bool:
        """True while a task runs."""
        return any(worker.is_alive for worker in self._workers)

    def retire(self) -> None:
        """Take no more tasks; from now on the running ones have their time."""
        if self._stop_by is None:
            self._stop_by = time.monotonic() + self._stop_within_s
            for worker in self._workers:
                worker.retire()

    def stop(self) -> None:
        """Wait for running tasks, give back those that do not end in time, and stop.

        The leases are renewed while it waits. The relay stops before anything is given back, so
        that it is due at once wherever the next process starts.
        """
        self.retire()
        for worker in self._workers:
            worker.join(max(0.0, (self._stop_by or 0.0) - time.monotonic()))
        for carrier in self._carriers:
            carrier.stop()
        try:
            if released := self._outbox.release():
                _log.warning("workforce.given_back", keys=released)
        except UnavailableError as error:
            _log.warning("workforce.not_released", reason=str(error))  # the leases run out
        for other in self._others:
            other.stop()


class WorkforceOwner:
    """Mixin of a process that has a workforce, or none and then nothing to stop."""

    _workforce: Workforce | None = None

    def retire(self) -> None:
        """Take no more tasks from the queue; closing waits for the running ones."""
        if self._workforce is not None:
            self._workforce.retire()

    @property
    def is_working(self) -> bool:
        """True while a task runs; after closing it is void, and given back."""
        return self._workforce is not None and self._workforce.is_working

    def check_queue(self) -> None:
        """Raise `QueueUnavailableError` if a thread of the workforce has ended."""
        if self._workforce is not None and not self._workforce.is_alive:
            raise QueueUnavailableError("a thread that works on the queue has ended; start again")
