"""The Celery queue on Redis: it wakes workers in other processes and distributes tasks.

Nothing relies on the broker's memory: `kit.outbox` holds every task until it is finished.
"""

import threading

import structlog
from celery import Celery
from celery.exceptions import WorkerShutdown
from celery.worker import WorkController
from kombu.exceptions import OperationalError as BrokerError

from services.kit.errors import UnavailableError
from services.kit.observability import tracing
from services.kit.observability.metrics import store_timer
from services.kit.queue.outbox import Outbox, QueueUnavailableError, RegisteredTask
from services.kit.queue.workforce import Worker, WorkThread

VISIBILITY_TIMEOUT_S = 3600
"""Time after which Redis redelivers an unacknowledged message. The outbox is faster."""

START_TIMEOUT_S = 10.0


def create_queue(broker_url: str) -> Celery:
    """Create a Celery application whose tasks are acknowledged late and carry only JSON.

    A task's queue is its room: `gateway.walk` goes to `flowxpert.gateway`.
    """
    queue = Celery("flowxpert", broker=broker_url, set_as_current=False)
    queue.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_publish_retry=False,  # the relay is the retry
        task_routes=(_route,),
        task_store_errors_even_if_ignored=False,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,  # a worker outlives any absence of its broker
        broker_transport_options={
            "visibility_timeout": VISIBILITY_TIMEOUT_S,
            "socket_connect_timeout": 2,
        },
    )
    return queue


def queue_name(room: str) -> str:
    """Return the name of the queue of a room's tasks."""
    return f"flowxpert.{room}"


def _route(name: str, *_args: object, **_options: object) -> dict[str, str]:
    return {"queue": queue_name(name.partition(".")[0])}


class WorkerThread(Worker):
    """A Celery worker that runs one task at a time in a thread of this process.

    Give each room its own thread, so that a long ingest does not hold up a ticket, and its own
    `create_queue`: an application listens to one set of queues. Signals stay the main thread's
    business.
    """

    def __init__(self, queue: Celery, room: str, outbox: Outbox) -> None:
        """Create the worker; the room's tasks must be registered with the outbox."""
        super().__init__(f"worker-{room}")
        for name, task in outbox.registered(room).items():
            _register(queue, outbox, name, task)
        self._queue = queue
        self._ready = threading.Event()
        self._worker = WorkController(
            app=queue,
            queues=[queue_name(room)],
            hostname=f"{room}@embedded",
            pool="solo",
            concurrency=1,
            loglevel="WARNING",
            ready_callback=lambda _consumer: self._ready.set(),
            use_eventloop=False,  # Celery's event loop is one per process, not per worker
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )

    def start(self) -> None:
        """Start to work; return once the queue is being listened to.

        Raises:
            QueueUnavailableError: The broker did not answer within ten seconds.
        """
        super().start()
        if not self._ready.wait(START_TIMEOUT_S):
            raise QueueUnavailableError("the queue's broker did not answer within ten seconds")

    def retire(self) -> None:
        """Take no more tasks; the current one continues."""
        consumer = self._worker.consumer
        if self._thread.is_alive() and consumer is not None:
            consumer.call_soon(_end_worker)

    def _run(self) -> None:
        # Celery looks the task up in the thread's current application, not in the worker's.
        self._queue.set_current()
        self._worker.start()


def _register(queue: Celery, outbox: Outbox, name: str, task: RegisteredTask) -> None:
    def run(key: str) -> None:
        outbox.run(key, task.work, task.on_parked)

    # Shared, which is the default, would put it into every other application of the process.
    queue.task(run, name=name, shared=False)


def _end_worker() -> None:
    """Stop the worker in Celery's own way, inside its loop between two tasks."""
    raise WorkerShutdown(0)


POLL_S = 1.0
"""Pause between looks at the outbox when no put wakes the relay: retries, other processes' puts."""

PAUSE_S = 0.05
"""Least time between two looks, so that a burst is published in batches; a single put after a quiet
moment is published at once.
"""

PUBLISH_AT_ONCE = 200

REPUBLISH_S = 60.0
"""Time after which an unclaimed published task is published again, plus a second for each task that
waits: its message was lost with a broker or a worker. A duplicate is harmless.
"""
LATEST_REPUBLISH_S = 900.0

_log = structlog.get_logger()


class Relay(WorkThread):
    """Thread that publishes due tasks at once.

    A task is marked as published after the broker took it, so each is published at least once.
    """

    def __init__(self, outbox: Outbox, queue: Celery) -> None:
        super().__init__("relay")
        self._outbox = outbox
        self._queue = queue
        self._wake = outbox.listen()
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Stop publishing; what is unpublished stays in the outbox."""
        self._stopping.set()
        self._wake.set()
        self._thread.join(POLL_S * 5)

    def publish(self) -> int:
        """Publish the due tasks to the broker and return their number."""
        due = self._outbox.due(limit=PUBLISH_AT_ONCE)
        for task in due:
            context = tracing.TraceContext.parse(task.trace_id)
            with (
                tracing.entry(f"publish {task.task}", context, kind="producer"),
                store_timer("broker", "publish"),
            ):
                self._queue.send_task(task.task, args=(task.key,), priority=task.priority)
        if due:
            waiting = self._outbox.counts()["waiting"]
            patience_s = min(REPUBLISH_S + waiting, LATEST_REPUBLISH_S)
            self._outbox.mark_published(due, again_after=patience_s)
        return len(due)

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
