"""Platforms whose processes are killed: all rooms in one, or each in its own on servers."""

import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx

from evaluation.benches.load.servers import (
    Postgres,
    Server,
    Valkey,
    begin,
    free_port,
    made,
)
from services.deployment.rooms import ROOMS

_PRELOADED = "evaluation.benches.kills.preloaded"
"""Module that is imported once, before processes fork from there."""

LEASE_S = 10.0
"""Seconds until the work of a dead process goes to another; the least that may be set."""


def _serve(words: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
    """Run a command of FlowXpert in a fresh process, as `python -m services.cli` does."""
    os.environ.clear()
    os.environ.update(environment)
    os.setsid()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    sys.argv = ["flowxpert", *words]
    importlib.import_module("services.cli").main()


class ForkedServer(Server):
    """A command of FlowXpert whose process forks from one that has imported it."""

    def __init__(
        self, words: Sequence[str], folder: Path, settings: Mapping[str, str], data: Path
    ) -> None:
        """Prepare the command; it listens on a port of its own.

        `settings` are read whenever it is started.
        """
        self.url = f"http://127.0.0.1:{free_port()}"
        port = self.url.rpartition(":")[2]
        name = "-".join(words[:2])
        kept = {k: v for k, v in os.environ.items() if not k.startswith("FLOWXPERT_")}
        self._words = [*words, "--port", port, "--data-dir", str(data)]
        self._kept = kept | {"OMP_NUM_THREADS": "1"}
        self._settings = settings
        self._child: BaseProcess | None = None
        super().__init__(name, self._words, self._is_there, folder / f"{name}.log")

    @property
    def pid(self) -> int:
        """Of its process; 0 before it was started."""
        return (self._child.pid or 0) if self._child else 0

    @property
    def has_ended(self) -> bool:
        """True unless its process runs."""
        return self._child is None or not self._child.is_alive()

    def start(self) -> None:
        """Start it; it answers later."""
        forking = multiprocessing.get_context("forkserver")
        forking.set_forkserver_preload([_PRELOADED])
        self._child = forking.Process(
            target=_serve,
            args=(self._words, self._kept | dict(self._settings), self._log),
            daemon=True,
        )
        self._child.start()

    def _end(self, how: signal.Signals) -> None:
        if self._child is None:
            return
        os.kill(self.pid, how)
        self._child.join(20)
        if self._child.is_alive():
            self._child.kill()
            self._child.join()

    def _is_there(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False


@dataclass
class Platform:
    """Processes of one platform, by what they do, with the servers under them."""

    url: str
    """Address at which tickets are taken, and people and ticket systems are answered."""
    by_role: Mapping[str, Server]
    """Processes by `gateway`, `worker`, `executor`, `ingestion`: whoever does that work."""
    database: str
    """URL of the database, for those who count."""
    stores: Mapping[str, Server] = field(default_factory=dict)
    """Servers that keep something, by `postgres` and `redis`."""
    others: Sequence[Server] = ()

    @property
    def servers(self) -> list[Server]:
        """All processes, each once, those first that others need."""
        return list(dict.fromkeys((*self.stores.values(), *self.others, *self.by_role.values())))


def open_embedded(folder: Path, settings: Mapping[str, str], closing: ExitStack) -> Platform:
    """Start all rooms in one process, on SQLite."""
    data = folder / "data"
    one = ForkedServer(["up"], folder, settings, data)
    begin([one], closing)
    roles = dict.fromkeys(("gateway", "worker", "executor", "ingestion"), one)
    return Platform(one.url, roles, f"sqlite:///{data / 'flowxpert.db'}")


def open_apart(folder: Path, settings: Mapping[str, str], closing: ExitStack) -> Platform:
    """Start each room in processes of its own, on PostgreSQL and Valkey."""
    postgres, valkey = (
        Postgres(made(folder / "pg"), with_vectors=True),
        Valkey(made(folder / "valkey")),
    )
    begin((postgres, valkey), closing)
    words = {f"serve {room.name}": ["serve", room.name] for room in ROOMS}
    for room in ROOMS:
        if room.has_queue:
            words[f"serve {room.name}"].append("--no-work")
            words[f"work {room.name}"] = ["work", room.name]
    shared = {
        "FLOWXPERT_DATABASE_URL": postgres.url,
        "FLOWXPERT_REDIS_URL": valkey.url,
        "FLOWXPERT_VECTORS": "pgvector",
    }
    environment = dict(settings) | shared
    servers = {
        name: ForkedServer(each, folder, environment, folder / "data")
        for name, each in words.items()
    }
    for room in ROOMS:  # known once each has its port
        address = servers[f"serve {room.name}"].url
        environment[f"FLOWXPERT_{room.name.upper()}_URL"] = address
    begin(list(servers.values()), closing)
    roles = {
        "gateway": servers["serve gateway"],
        "worker": servers["work gateway"],
        "executor": servers["work executor"],
        "ingestion": servers["work ingestion"],
    }
    others = [each for each in servers.values() if each not in roles.values()]
    return Platform(
        servers["serve gateway"].url,
        roles,
        postgres.url,
        {"postgres": postgres, "redis": valkey},
        others,
    )
