"""What a deployable is: its descriptor, and what a process holds of it once it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from services.room.footprint import Footprint

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.kit.http.health import Check
    from services.kit.queue.periodic import Periodic
    from services.kit.settings import PlatformSettings, Settings
    from services.room.front import Front
    from services.room.peers import Peers
    from services.room.stores import Stores

S_co = TypeVar("S_co", covariant=True)


@dataclass(frozen=True)
class OpenRoom(Generic[S_co]):
    """A deployable with its stores and peers."""

    service: S_co
    """What others call: it implements the room's Protocols."""
    create_app: Callable[[Mapping[str, Check]], FastAPI]
    """The app that answers requests; it is told what else decides whether it is ready."""
    register: Callable[[], None] | None = None
    """Makes workers do the room's tasks."""
    periodic: tuple[Periodic | None, ...] = ()
    """What workers do every so often beside the tasks."""
    begin: Callable[[], None] | None = None
    """Done once when the process begins to serve or to work."""


@dataclass(frozen=True)
class Room(Generic[S_co]):
    """A deployable. Importing its `room.py` imports settings alone; `build` imports the rest.

    By their places are found: tables and migrations (`tables.py`, `migrations/`), metrics
    (`metrics.py`), the description of its routes (`proto/openapi/<name>.json`).
    """

    name: str
    does: str
    """In a line, for the tables of the documentation."""
    build: Callable[[Stores, Peers], OpenRoom[S_co]]
    describe: Callable[[PlatformSettings], FastAPI]
    """Its app with nothing behind it, for the description of its routes."""
    footprint: Footprint
    settings: tuple[type[Settings], ...] = ()
    has_queue: bool = False
    """Whether it has tasks, that processes beside it may work on too."""
    lanes: tuple[str, ...] = ()
    """Further queues: what waits for a model, for long, holds up nothing else of the room. A task's
    queue is what its name begins with."""
    threads: int = 1
    """How many tasks of its queue one process alone works on at once."""
    front: Callable[[Peers], Front] | None = None


AnyRoom = Room[Any]

NOBODY: Any = None
"""Routes are described without asking the service behind them."""
