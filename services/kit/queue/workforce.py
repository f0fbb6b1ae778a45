"""The threads that work on a process's queues, and how they come to an end."""

import time

import structlog

from services.kit.errors import UnavailableError
from services.kit.queue.celery_queue import QueueUnavailableError, WorkerThread
from services.kit.queue.outbox import Outbox
from services.kit.queue.periodic import Periodic
from services.kit.queue.relay import Relay

_log = structlog.get_logger()


class Workforce:
    """Workers, the relay that brings them tasks, and what is done every so often."""

    def __init__(
        self,
        outbox: Outbox,
        workers: tuple[WorkerThread, ...],
        relay: Relay,
        *others: Periodic | None,
        stop_within_s: float,
    ) -> None:
        """`stop_within_s` is what running tasks get when it is stopped."""
        self._outbox = outbox
        self._workers = workers
        self._relay = relay
        self._others = [other for other in others if other is not None]
        self._all: list[WorkerThread | Relay | Periodic] = [*workers, relay, *self._others]
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

        While it waits the relay tells that the claims are alive; it must not publish what is given
        back, since its broker may end with this process.
        """
        self.retire()
        for worker in self._workers:
            worker.join(max(0.0, (self._stop_by or 0.0) - time.monotonic()))
        self._relay.stop()
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
