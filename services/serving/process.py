"""Rooms in a process: they answer requests, work on their queues, or both."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from services.kit.http.health import Check
from services.kit.http.server import give_way_quickly
from services.kit.observability.trace_export import start_tracing
from services.kit.queue.celery_queue import EmbeddedBroker, WorkerThread, create_queue
from services.kit.queue.relay import Relay
from services.kit.queue.workforce import Workforce, Working
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

    def _employ(self, rooms: dict[AnyRoom, OpenRoom[object]], *, works: bool = True) -> None:
        """Publish what waits in the outbox, and with `works` do these rooms' tasks."""
        url = self._broker_url()
        workers = []
        for room, opened in rooms.items():
            if works and opened.register is not None:
                queue = create_queue(url)
                opened.register(queue)
                workers.append(WorkerThread(queue, room.name))
        self._workforce = Workforce(
            self._stores.outbox,
            tuple(workers),
            Relay(self._stores.outbox, create_queue(url), sole=self._is_sole),
            *(each for opened in rooms.values() if works for each in opened.periodic),
            stop_within_s=self.settings.stop_within_s,
        )
        self._closing.callback(self._workforce.stop)
        self._workforce.start()

    @property
    def _is_sole(self) -> bool:
        """Whether no other process works on the database."""
        return self._stores.is_alone and self.settings.database_url is None

    def _broker_url(self) -> str:
        url = self._stores.broker_url()
        if url is not None:
            return url
        broker = EmbeddedBroker()
        self._closing.callback(broker.stop)
        broker.start()
        return broker.url
