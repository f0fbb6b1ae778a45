"""The threads that work on a process's queues, and how they come to an end."""

import time
from collections.abc import Sequence
from typing import Protocol

import structlog

from services.kit.errors import UnavailableError
from services.kit.queue.leases import LeaseKeeper
from services.kit.queue.outbox import Outbox, QueueUnavailableError

_log = structlog.get_logger()


class Thread(Protocol):
    """A thread that goes on until it is stopped."""

    @property
    def is_alive(self) -> bool:
        """Whether it goes on."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""


class Worker(Protocol):
    """A thread that runs tasks, one at a time."""

    @property
    def is_alive(self) -> bool:
        """Whether it works."""

    def start(self) -> None:
        """Begin to work."""

    def retire(self) -> None:
        """Take no more tasks; the current one goes on."""

    def join(self, timeout: float) -> None:
        """Wait for the end of the current task, but not for longer."""


class Workforce:
    """Workers, what brings them tasks, and what is done every so often."""

    def __init__(
        self,
        outbox: Outbox,
        workers: Sequence[Worker],
        *others: Thread | None,
        stop_within_s: float,
        relay: Thread | None = None,
    ) -> None:
        """`stop_within_s` is what running tasks get when it is stopped.

        `relay` brings tasks to workers that do not look for them, in this process or another.
        """
        self._outbox = outbox
        self._workers = workers
        leases = LeaseKeeper(outbox)
        self._carriers: list[Thread] = [leases, relay] if relay else [leases]
        self._others = [other for other in others if other is not None]
        self._all: list[Worker | Thread] = [*workers, *self._carriers, *self._others]
        self._stop_within_s = stop_within_s
        self._stop_by: float | None = None

    def start(self) -> None:
        """Begin to work.

        Raises:
            QueueUnavailableError: The broker did not answer.
        """
        for thread in self._all:
            thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether every thread goes on."""
        return all(each.is_alive for each in self._all)

    @property
    def is_working(self) -> bool:
        """Whether a task still runs."""
        return any(worker.is_alive for worker in self._workers)

    def retire(self) -> None:
        """Take no more tasks; from now on those that run have their time."""
        if self._stop_by is None:
            self._stop_by = time.monotonic() + self._stop_within_s
            for worker in self._workers:
                worker.retire()

    def stop(self) -> None:
        """Wait for what runs, give back what does not end in time, and end.

        While it waits the claims are kept alive. The relay ends before anything is given back, so
        that it is due at once wherever the next process begins.
        """
        self.retire()
        for worker in self._workers:
            worker.join(max(0.0, (self._stop_by or 0.0) - time.monotonic()))
        for carrier in self._carriers:
            carrier.stop()
        self._release()
        for other in self._others:
            other.stop()

    def _release(self) -> None:
        try:
            given = self._outbox.release()
        except UnavailableError as error:
            _log.warning("workforce.not_released", reason=str(error))  # the leases run out
            return
        if given:
            _log.warning("workforce.given_back", keys=given)


class Working:
    """What a process tells of its workforce; one that has none has nothing to end."""

    _workforce: Workforce | None = None

    def retire(self) -> None:
        """Take no more tasks from the queue; closing waits for those that run."""
        if self._workforce is not None:
            self._workforce.retire()

    @property
    def is_working(self) -> bool:
        """Whether a task still runs; once closed it is void, and given back."""
        return self._workforce is not None and self._workforce.is_working

    def check_queue(self) -> None:
        """Raise `QueueUnavailableError` when a thread that works has ended."""
        if self._workforce is not None and not self._workforce.is_alive:
            raise QueueUnavailableError("a thread that works on the queue has ended; start again")
