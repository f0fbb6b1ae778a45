"""One room in a process, the others over HTTP: what `flowxpert serve` and `work` run on."""

from enum import Enum

from fastapi import FastAPI

from services.contracts.addresses import AddressSettings
from services.kit.errors import InvalidInputError
from services.kit.http.app import create_service_app
from services.kit.settings import PlatformSettings
from services.room.descriptor import AnyRoom
from services.room.stores import Stores
from services.serving.peers import RemotePeers
from services.serving.process import Process


class NoQueueError(InvalidInputError):
    """The service has no queue that somebody could work on."""


class Duty(Enum):
    """What a process does for its service."""

    ALL = "all"
    SERVE = "serve"
    """It answers, and publishes the tasks that it makes; other processes work on them."""
    WORK = "work"
    """It works on the queue, and answers nothing but probes and metrics."""


class Serving(Process):
    """A room with the stores it needs.

    It owns a folder of its own in the data folder: the room's name, with `-worker` where it only
    works.
    """

    def __init__(
        self,
        room: AnyRoom,
        settings: PlatformSettings,
        addresses: AddressSettings | None = None,
        *,
        duty: Duty = Duty.ALL,
    ) -> None:
        """Opens the stores.

        Raises:
            DataDirInUseError: Another process owns the folder.
            MissingServerError: The room shares a store whose address is not set.
            NoQueueError: It shall only work, and the room has no queue.
            UnavailableError: A server that the settings name did not answer.
        """
        if duty is Duty.WORK and not room.has_queue:
            raise NoQueueError(
                f"{room.name} has no queue to work on: `flowxpert serve {room.name}`"
            )
        name = f"{room.name}-worker" if duty is Duty.WORK else room.name
        own = settings.model_copy(update={"data_dir": settings.data_dir.resolve() / name})
        super().__init__(f"flowxpert-{name}", Stores(name, own, is_alone=False))
        self._room, self._duty = room, duty
        with self._closing.pop_all() as opening:
            peers = RemotePeers(addresses or AddressSettings(), own, opening)
            self._opened = room.build(self._stores, peers)
            if room.has_queue:
                self._stores.broker_url()
            self.app = self._probes(name) if duty is Duty.WORK else self._answering()
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
            self._employ({self._room: self._opened}, works=self._duty is not Duty.SERVE)
            return
        for each in filter(None, self._opened.periodic):
            each.start()
            self._closing.callback(each.stop)

    def _answering(self) -> FastAPI:
        return self._opened.create_app(self.checks() if self._room.has_queue else {})

    def _probes(self, name: str) -> FastAPI:
        """What an orchestrator and Prometheus ask a worker."""
        return create_service_app(
            name,
            title=f"FlowXpert {name}",
            routers=[],
            settings=self.settings,
            access=self._stores.access,
            checks={"database": self._stores.database.check, **self.checks()},
        )
