"""Descriptor of a deployable, and the form it has once a process has built it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.kit.http.health import Check
    from services.kit.queue.workforce import Periodic
    from services.kit.settings import PlatformSettings, Settings
    from services.room.peers import Frontend, Peers
    from services.room.stores import Stores
from dataclasses import field
from enum import StrEnum
from typing import Literal


class Store(StrEnum):
    """A server that stores data, by its name in the chart."""

    POSTGRESQL = "postgresql"
    REDIS = "redis"
    QDRANT = "qdrant"
    NEO4J = "neo4j"


@dataclass(frozen=True)
class ProcessResources:
    """Resources of one kind of process; amounts in the notation of Kubernetes."""

    replicas: int = 2
    up_to: int = 8
    """Upper limit of replicas when their number follows the load."""
    cpu: str = "250m"
    memory: str = "768Mi"
    cpu_limit: str = "2"
    memory_limit: str = "2Gi"
    scratch: str = "1Gi"
    """Disk space for files that can be made again."""
    model: Literal["planner", "scorer"] | None = None
    """The language model that it calls."""
    goes_outside: bool = False
    """True if it connects to ticket systems, to Git or to a model outside the platform."""


@dataclass(frozen=True)
class Footprint:
    """Stores, peers and resources that a deployable's processes need."""

    stores: tuple[Store, ...] = ()
    calls: tuple[str, ...] = ()
    """The deployables that it calls."""
    serves: ProcessResources = ProcessResources()
    works: ProcessResources = ProcessResources()
    """Resources of a worker-only process, used if the room has a queue."""
    takes_uploads: bool = False
    """True if its processes share the volume on which uploads wait."""
    is_published: bool = False
    """True if clients other than the platform's own processes may call it."""
    secrets: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Further secrets, by the setting that is read from their file."""


S_co = TypeVar("S_co", covariant=True)


@dataclass(frozen=True)
class RunningRoom(Generic[S_co]):
    """A deployable that is built, with its stores and peers."""

    service: S_co
    """The object that others call: it implements the room's Protocols."""
    create_app: Callable[[Mapping[str, Check]], FastAPI]
    """Builds the app that answers requests, from the further checks that decide its readiness."""
    register: Callable[[], None] | None = None
    """Registers the room's tasks with the workers."""
    periodic: tuple[Periodic | None, ...] = ()
    """Periodic jobs of the workers, beside the tasks."""
    begin: Callable[[], None] | None = None
    """Hook called once when the process begins to serve or to work."""


@dataclass(frozen=True)
class Room(Generic[S_co]):
    """A deployable. Importing its `room.py` imports settings alone; `build` imports the rest.

    The description of its routes is `proto/openapi/<name>.json`.
    """

    name: str
    purpose: str
    """The purpose in one line, for the tables of the documentation."""
    build: Callable[[Stores, Peers], RunningRoom[S_co]]
    describe: Callable[[PlatformSettings], FastAPI]
    """Builds its app without a service behind it, to export the description of its routes."""
    footprint: Footprint
    packages: tuple[str, ...] = ()
    """Packages of `services/` that its processes hold beside the one of its name, lowest first."""
    settings: tuple[type[Settings], ...] = ()
    has_queue: bool = False
    """True if it has tasks; further processes may then work on them."""
    lanes: tuple[str, ...] = ()
    """Further queues, for tasks that wait long for others and must not hold up the room's own.
    The queue of a task is the first part of its name.
    """
    threads: int = 1
    """Number of tasks from its queue that a single process works on at once."""
    frontend: Callable[[Peers], Frontend] | None = None


AnyRoom = Room[Any]

NO_SERVICE: Any = None
"""Stand-in for the service when only the routes are described."""
