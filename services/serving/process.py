"""Rooms in a process: they answer requests, work on their queues, or both."""

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from services.kit.http.health import Check
from services.kit.http.server import give_way_quickly
from services.kit.observability.trace_export import start_tracing
from services.kit.queue.periodic import Periodic
from services.kit.queue.worker import OutboxWorker
from services.kit.queue.workforce import Worker, Workforce, Working
from services.room.descriptor import AnyRoom, OpenRoom
from services.room.stores import Stores


class Process(Working):
    """What a process has open; close it, or use it as a context."""

    def __init__(self, name: str, stores: Stores) -> None:
        """`name` is told to whoever collects traces."""
        self.settings = stores.settings
        self._name = name
        self._stores = stores
        self._closing = ExitStack()
        self._closing.callback(stores.close)

    def checks(self) -> dict[str, Check]:
        """What decides whether the process is ready, beside what its rooms know."""
        return {"queue": self.check_queue}

    def close(self) -> None:
        """End what was started, in reverse order, and give the data folder back."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(self) -> None:
        give_way_quickly()
        endpoint = self.settings.otlp_endpoint
        self._closing.enter_context(start_tracing(self._name, endpoint))
        self._stores.warm_up()

    def _employ(
        self,
        rooms: dict[AnyRoom, OpenRoom[object]],
        *,
        works: bool = True,
        beside: Sequence[Periodic] = (),
    ) -> None:
        """Do these rooms' tasks with `works`; with a broker, wake whoever else does them.

        `beside` is what no room does alone.
        """
        outbox, url = self._stores.outbox, self._stores.broker_url()
        employed = []
        for room, opened in rooms.items():
            if works and opened.register is not None:
                opened.register()
                employed.append((room, opened))
        if self._stores.is_alone and self.settings.database_url is None:
            outbox.restart()  # nobody else works on it: claims of an earlier run are void
        workers: list[Worker] = []
        relay = None
        if url is None:
            workers += [
                OutboxWorker(outbox, queue)
                for room, _ in employed
                for queue in (*(room.name,) * room.threads, *room.lanes)
            ]
        else:
            from services.kit.queue.celery_queue import WorkerThread, create_queue  # noqa: PLC0415
            from services.kit.queue.relay import Relay  # noqa: PLC0415 - a process alone needs none

            workers += [
                WorkerThread(create_queue(url), queue, outbox)
                for room, _ in employed
                for queue in (room.name, *room.lanes)
            ]
            relay = Relay(outbox, create_queue(url))
        self._workforce = Workforce(
            outbox,
            workers,
            *(
                each
                for opened in rooms.values()
                if works or opened.register is None
                for each in opened.periodic
            ),
            *beside,
            stop_within_s=self.settings.stop_within_s,
            relay=relay,
        )
        self._closing.callback(self._workforce.stop)
        self._workforce.start()
