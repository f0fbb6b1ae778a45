"""A server that speaks Bolt and Cypher, for the tests of the graph.

ArcadeDB runs from its wheel on a free loopback port; FLOWXPERT_TEST_NEO4J_URL names a Neo4j server
instead, as bolt://user:password@host:7687, whose graph is emptied.
"""

import os
import platform
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from tests.ports import free_port

STARTS_WITHIN_S = 60
OURS = (
    *("Incident", "SourceDocument", "IncidentName", "FlowXpertGraph"),
    *("TriageCase", "TriageEntity", "TriageTeam"),
)


@dataclass(frozen=True)
class GraphServer:
    url: str
    user: str
    password: str

    def driver(self) -> Driver:
        return GraphDatabase.driver(self.url, auth=(self.user, self.password))

    def empty(self) -> None:
        with self.driver() as driver:
            for label in OURS:
                driver.execute_query(f"MATCH (n:{label}) DETACH DELETE n")


@contextmanager
def graph_server(folder: Path) -> Iterator[GraphServer]:
    """The server to test against; `folder` is for the files of one that is started here."""
    configured_url = os.environ.get("FLOWXPERT_TEST_NEO4J_URL")
    if configured_url:
        parts = urlsplit(configured_url)
        url = f"{parts.scheme}://{parts.hostname}:{parts.port or 7687}"
        yield GraphServer(url, unquote(parts.username or ""), unquote(parts.password or ""))
        return
    package = find_spec("arcadedb_embedded")
    if package is None or package.origin is None:
        pytest.skip(
            "no wheel of arcadedb-embedded is installed here "
            f"({platform.system()} {platform.machine()}); set FLOWXPERT_TEST_NEO4J_URL"
        )
    server = GraphServer(f"bolt://127.0.0.1:{free_port()}", "root", "only-for-these-tests")
    process = _start(Path(package.origin).parent, server, folder)
    try:
        _wait(server, process, folder / "server.log")
        yield server
    finally:
        process.terminate()
        process.wait(timeout=30)


def _start(package: Path, server: GraphServer, folder: Path) -> subprocess.Popen[bytes]:
    settings = {
        "server.rootPath": folder,
        "server.rootPassword": server.password,
        "server.httpIncomingHost": "127.0.0.1",
        "server.httpIncomingPort": free_port(),
        "bolt.host": "127.0.0.1",
        "bolt.port": urlsplit(server.url).port,
        "server.defaultDatabases": "neo4j[root]",
        "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
    }
    command = [
        str(package / "jre" / "bin" / "java"),
        "-Xmx512m",
        "--add-opens",
        "java.base/java.nio=ALL-UNNAMED",
        "--enable-native-access=ALL-UNNAMED",
        *(f"-Darcadedb.{name}={value}" for name, value in settings.items()),
        "-cp",
        str(package / "jars" / "*"),
        "com.arcadedb.server.ArcadeDBServer",
    ]
    with (folder / "server.log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)


def _wait(server: GraphServer, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            with server.driver() as driver:
                driver.verify_connectivity()
        except (DriverError, Neo4jError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
                raise AssertionError(f"ArcadeDB does not answer: {tail}") from error
            time.sleep(0.2)
        else:
            return
