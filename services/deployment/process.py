"""Rooms in a process: they answer requests, work on their queues, or both."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from enum import Enum
from types import TracebackType
from typing import Self

from services.contracts.addresses import AddressSettings
from services.deployment.peers import RemotePeers
from services.kit.errors import InvalidInputError
from services.kit.http.app import create_service_app
from services.kit.http.server import shorten_switch_interval
from services.kit.observability.tracing import use_tracer
from services.kit.queue.workforce import OutboxWorker, Periodic, Worker, Workforce, WorkforceOwner
from services.kit.settings import PlatformSettings
from services.room.descriptor import AnyRoom, RunningRoom
from services.room.stores import Stores


def start_tracing(service: str, endpoint: str | None = None) -> AbstractContextManager[None]:
    """Send spans to the collector while the context is open; nothing without a collector.

    `endpoint` is the base URL of OTLP over HTTP; `OTEL_EXPORTER_OTLP_…` names one too, and the
    protocol's options.
    """
    from services.kit.observability.opentelemetry import open_tracer  # noqa: PLC0415 - slow to import, seldom needed

    tracer = open_tracer(service, endpoint)
    return use_tracer(tracer) if tracer else nullcontext()


class Process(WorkforceOwner):
    """The resources a process has open; close it, or use it as a context."""

    def __init__(self, name: str, stores: Stores) -> None:
        """Take over `stores`; `name` is the service name in traces."""
        self.settings = stores.settings
        self._name = name
        self._stores = stores
        self._closing = ExitStack()
        self._closing.callback(stores.close)

    def close(self) -> None:
        """Stop everything that was started, in reverse order, and release the data folder."""
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
        shorten_switch_interval()
        endpoint = self.settings.otlp_endpoint
        self._closing.enter_context(start_tracing(self._name, endpoint))
        self._stores.warm_up()

    def _start_workers(
        self,
        rooms: dict[AnyRoom, RunningRoom[object]],
        *,
        works: bool = True,
        beside: Sequence[Periodic] = (),
    ) -> None:
        """Start workers on these rooms' tasks with `works`; with a broker, start its relay too.

        `beside` are the periodic jobs that belong to no single room.
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
            from services.kit.queue.celery_queue import (  # noqa: PLC0415
                Relay,
                WorkerThread,
                create_queue,
            )

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


class NoQueueError(InvalidInputError):
    """The service has no queue to work on."""


class ProcessRole(Enum):
    """The part that a process plays for its service."""

    ALL = "all"
    SERVE = "serve"
    """Answers requests and publishes the tasks they make; other processes work on them."""
    WORK = "work"
    """Works on the queue, and answers nothing but probes and metrics."""


class ServiceProcess(Process):
    """One room as a process, with the stores it needs.

    It owns a folder of its own in the data folder: the room's name, with `-worker` where it only
    works.
    """

    def __init__(
        self,
        room: AnyRoom,
        settings: PlatformSettings,
        addresses: AddressSettings | None = None,
        *,
        role: ProcessRole = ProcessRole.ALL,
    ) -> None:
        """Open the stores and build the room.

        Raises:
            DataDirInUseError: Another process owns the folder.
            MissingServerError: The room shares a store whose address is not set.
            NoQueueError: It shall only work, and the room has no queue.
            UnavailableError: A server that the settings name did not answer.
        """
        if role is ProcessRole.WORK and not room.has_queue:
            raise NoQueueError(
                f"{room.name} has no queue to work on: `flowxpert serve {room.name}`"
            )
        name = f"{room.name}-worker" if role is ProcessRole.WORK else room.name
        own = settings.model_copy(update={"data_dir": settings.data_dir.absolute() / name})
        super().__init__(f"flowxpert-{name}", Stores(name, own, is_alone=False))
        self._room, self._role = room, role
        with self._closing.pop_all() as opening:
            peers = RemotePeers(addresses or AddressSettings(), own, opening)
            self._opened = room.build(self._stores, peers)
            if room.has_queue:
                self._stores.broker_url()
            checks = {"queue": self.check_queue}
            if role is ProcessRole.WORK:
                self.app = create_service_app(
                    name,
                    title=f"FlowXpert {name}",
                    routers=[],
                    settings=self.settings,
                    access=self._stores.access,
                    checks={"database": self._stores.database.check, **checks},
                )
            else:
                self.app = self._opened.create_app(checks if room.has_queue else {})
            self._closing = opening.pop_all()

    def start(self) -> None:
        """Begin to work on the room's queue, where it has one.

        Raises:
            QueueUnavailableError: The broker did not answer.
        """
        if self._opened.begin is not None:
            self._opened.begin()
        self._begin()
        if self._room.has_queue:
            self._start_workers(
                {self._room: self._opened}, works=self._role is not ProcessRole.SERVE
            )
            return
        for each in filter(None, self._opened.periodic):
            each.start()
            self._closing.callback(each.stop)
