"""The process of one service: it answers requests, works on its queue, or both."""

import threading
from contextlib import ExitStack
from enum import Enum
from types import TracebackType
from typing import Protocol, Self

from celery import Celery
from fastapi import FastAPI

from services.contracts.addresses import AddressSettings, Service
from services.embedded import WARM_UP_TEXT
from services.kit.data_dir import own_data_dir
from services.kit.errors import InvalidInputError
from services.kit.http.app import create_service_app
from services.kit.http.health import Check
from services.kit.http.server import give_way_quickly
from services.kit.observability.trace_export import start_tracing
from services.kit.queue.celery_queue import WorkerThread, create_queue
from services.kit.queue.periodic import Periodic
from services.kit.queue.relay import Relay
from services.kit.queue.workforce import Workforce, Working
from services.kit.settings import PlatformSettings
from services.serving.answering import planner_app, retrieval_app, scorer_app
from services.serving.gateway import GatewayRoom
from services.serving.ingestion import IngestionRoom
from services.serving.stores import SharedStores


class NoQueueError(InvalidInputError):
    """The service has no queue that somebody could work on."""


class Duty(Enum):
    """What a process does for its service."""

    ALL = "all"
    SERVE = "serve"
    """It answers, and publishes the tasks that it makes; other processes work on them."""
    WORK = "work"
    """It works on the queue, and answers nothing but probes and metrics."""


class Room(Protocol):
    """A service that has a queue."""

    def app(self, check_queue: Check) -> FastAPI:
        """What answers requests."""

    def register(self) -> None:
        """Make workers do this service's tasks."""

    def periodic(self) -> tuple[Periodic | None, ...]:
        """What is done every so often beside the tasks."""


_ANSWERING = {
    Service.RETRIEVAL: retrieval_app,
    Service.PLANNER: planner_app,
    Service.SCORER: scorer_app,
}


class Serving(Working):
    """One service with the stores it needs; close it, or use it as a context.

    It owns a folder of its own in the data folder: the service's name, with `-worker` where it only
    works.
    """

    def __init__(
        self,
        service: Service,
        settings: PlatformSettings,
        addresses: AddressSettings | None = None,
        *,
        duty: Duty = Duty.ALL,
    ) -> None:
        """Opens the stores.

        Raises:
            DataDirInUseError: Another process owns the folder.
            MissingServerError: The service shares a store whose address is not set.
            NoQueueError: It shall only work, and the service has no queue.
            UnavailableError: A server that the settings name did not answer.
        """
        if duty is Duty.WORK and not service.has_queue:
            raise NoQueueError(f"{service} has no queue to work on: `flowxpert serve {service}`")
        self._name = f"{service}-worker" if duty is Duty.WORK else service.value
        self._base = settings.data_dir.resolve()
        self.settings = settings.model_copy(update={"data_dir": self._base / self._name})
        self._service, self._duty = service, duty
        self._closing = ExitStack()
        self._stores = SharedStores(self._name, self.settings, self._closing)
        with ExitStack() as opening:
            opening.callback(self.close)
            self._closing.enter_context(own_data_dir(self.settings.data_dir))
            self._room = self._open_room(addresses or AddressSettings())
            self._queue = self._open_queue()
            self.app = self._create_app()
            opening.pop_all()

    def start(self) -> None:
        """Begin to work on this service's queue, where it has one.

        Raises:
            QueueUnavailableError: The broker did not answer.
        """
        give_way_quickly()
        name = f"flowxpert-{self._name}"
        self._closing.enter_context(start_tracing(name, self.settings.otlp_endpoint))
        if self._stores.has_embedder:
            threading.Thread(
                target=self._stores.embedder.embed,
                args=([WARM_UP_TEXT],),
                name="warm-up",
                daemon=True,
            ).start()
        if self._room is None or self._queue is None:
            return
        works = self._duty is not Duty.SERVE
        self._workforce = Workforce(
            self._stores.outbox,
            (WorkerThread(self._queue, self._service.value, self._stores.outbox),) if works else (),
            *(self._room.periodic() if works else ()),
            stop_within_s=self.settings.stop_within_s,
            relay=Relay(self._stores.outbox, self._queue),
        )
        self._closing.callback(self._workforce.stop)
        self._workforce.start()

    def close(self) -> None:
        """End what was started, in reverse order."""
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

    def _open_room(self, addresses: AddressSettings) -> Room | None:
        if self._service is Service.GATEWAY:
            return GatewayRoom(self._stores, addresses)
        if self._service is Service.INGESTION:
            return IngestionRoom(self._stores, self._base / self._service.value)
        return None

    def _open_queue(self) -> Celery | None:
        if self._room is None:
            return None
        queue = create_queue(self._stores.broker_url())
        if self._duty is not Duty.SERVE:
            self._room.register()
        return queue

    def _create_app(self) -> FastAPI:
        if self._room is None:
            return _ANSWERING[self._service](self._stores)
        if self._duty is Duty.WORK:
            return self._probes()
        return self._room.app(self.check_queue)

    def _probes(self) -> FastAPI:
        """What an orchestrator and Prometheus ask a worker."""
        return create_service_app(
            self._name,
            title=f"FlowXpert {self._name}",
            routers=[],
            settings=self.settings,
            needs={},
            access=self._stores.access,
            checks={"database": self._stores.database.check, "queue": self.check_queue},
        )
