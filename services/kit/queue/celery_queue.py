"""The queue: Celery on Redis, which wakes workers in other processes and spreads tasks over them.

Nothing relies on what the broker remembers: `kit.outbox` holds every task until it is finished.
"""

import threading

from celery import Celery
from celery.exceptions import WorkerShutdown
from celery.worker import WorkController

from services.kit.queue.outbox import Outbox, QueueUnavailableError, RegisteredTask

VISIBILITY_TIMEOUT_S = 3600
"""After this long Redis hands an unacknowledged message to somebody else. The outbox is faster."""

START_TIMEOUT_S = 10.0


def create_queue(broker_url: str) -> Celery:
    """A Celery application whose tasks are acknowledged late and carry JSON only.

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
    """The queue that the room's tasks wait in."""
    return f"flowxpert.{room}"


def _route(name: str, *_args: object, **_options: object) -> dict[str, str]:
    return {"queue": queue_name(name.partition(".")[0])}


class WorkerThread:
    """A Celery worker that runs one task at a time in a thread of this process.

    Give each room its own thread, so that a long ingest does not hold up a ticket, and its own
    `create_queue`: an application listens to one set of queues. Signals stay the main thread's
    business.
    """

    def __init__(self, queue: Celery, room: str, outbox: Outbox) -> None:
        """The room's tasks are registered with the outbox before."""
        for name, task in outbox.registered(room).items():
            _take(queue, outbox, name, task)
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
        self._thread = threading.Thread(target=self._work, name=f"worker-{room}", daemon=True)

    def start(self) -> None:
        """Begin to work; returns once the queue is being listened to.

        Raises:
            QueueUnavailableError: The broker did not answer within ten seconds.
        """
        self._thread.start()
        if not self._ready.wait(START_TIMEOUT_S):
            raise QueueUnavailableError("the queue's broker did not answer within ten seconds")

    @property
    def is_alive(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive()

    def retire(self) -> None:
        """Take no more tasks; the current one goes on."""
        consumer = self._worker.consumer
        if self._thread.is_alive() and consumer is not None:
            consumer.call_soon(_end_worker)

    def stop(self, timeout: float = 10.0) -> None:
        """Take no more tasks and wait for the current one; the outbox keeps what is left."""
        self.retire()
        self.join(timeout)

    def join(self, timeout: float) -> None:
        """Wait for the end of the current task, but not for longer."""
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _work(self) -> None:
        # Celery looks the task up in the thread's current application, not in the worker's.
        self._queue.set_current()
        self._worker.start()


def _take(queue: Celery, outbox: Outbox, name: str, task: RegisteredTask) -> None:
    def run(key: str) -> None:
        outbox.run(key, task.work, task.on_parked)

    # Shared, which is the default, would put it into every other application of the process.
    queue.task(run, name=name, shared=False)


def _end_worker() -> None:
    """Celery's own way out, taken inside the worker's loop between two tasks."""
    raise WorkerShutdown(0)
