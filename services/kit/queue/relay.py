"""The relay: carries tasks from the outbox to the broker."""

import threading

import structlog
from celery import Celery
from kombu.exceptions import OperationalError as BrokerError

from services.kit.errors import UnavailableError
from services.kit.observability import tracing
from services.kit.observability.metrics import store_timer
from services.kit.queue.outbox import DueTask, Outbox

POLL_S = 1.0
"""Pause between looks at the outbox when no put wakes the relay: retries, other processes' puts."""

PAUSE_S = 0.05
"""Least time between two looks, so that a burst is published in batches; a single put after a quiet
moment is published at once."""

PUBLISH_AT_ONCE = 200

REPUBLISH_S = 60.0
"""A published task that nobody claimed for this long, and a second longer for each that waits, is
published again: its message went down with a broker or a worker. A double is harmless."""
LATEST_REPUBLISH_S = 900.0

_log = structlog.get_logger()


class Relay:
    """A thread that publishes due tasks at once.

    A task is noted as published after the broker took it, so each is published at least once.
    """

    def __init__(self, outbox: Outbox, queue: Celery) -> None:
        self._outbox = outbox
        self._queue = queue
        self._wake = outbox.listen()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def start(self) -> None:
        """Begin to publish, first of all what is due."""
        self._thread.start()

    def stop(self) -> None:
        """Stop publishing; what is unpublished stays in the outbox."""
        self._stopping.set()
        self._wake.set()
        self._thread.join(POLL_S * 5)

    @property
    def is_alive(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive()

    def publish(self) -> int:
        """Hand the due tasks to the broker; how many it took."""
        due = self._outbox.due(limit=PUBLISH_AT_ONCE)
        for task in due:
            self._hand_over(task)
        if due:
            waiting = self._outbox.counts()["waiting"]
            patience_s = min(REPUBLISH_S + waiting, LATEST_REPUBLISH_S)
            self._outbox.published(due, again_after=patience_s)
        return len(due)

    def _hand_over(self, task: DueTask) -> None:
        place = tracing.Place.read(task.trace_id)
        with (
            tracing.entry(f"publish {task.task}", place, kind="producer"),
            store_timer("broker", "publish"),
        ):
            self._queue.send_task(task.task, args=(task.key,), priority=task.priority)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait(POLL_S)
            self._wake.clear()
            try:
                while self.publish() == PUBLISH_AT_ONCE and not self._stopping.is_set():
                    continue
            except (BrokerError, UnavailableError) as error:
                _log.warning("relay.unavailable", reason=str(error))
                self._stopping.wait(POLL_S)
            except Exception:  # noqa: BLE001 - the thread's entry point; tasks wait for it
                _log.exception("relay.failed")
                self._stopping.wait(POLL_S)
            self._stopping.wait(PAUSE_S)
