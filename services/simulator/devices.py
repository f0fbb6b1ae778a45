"""Simulated switches over real SSH: one asyncssh server each, on loopback."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from services.simulator.shell import Shell

USER = "oncall"
HANGS_FOR_S = 3600.0


@dataclass
class Misbehaviour:
    """Misbehaviour of a device towards its clients; all of it is off by default."""

    refuses: bool = False
    hangs_after: str = ""
    """Prefix of lines that it carries out without an answer."""
    drops_after: str = ""
    """Prefix of lines after which it closes the connection."""
    says: str = ""
    """Text beside each answer: garbage, terminal escapes, an instruction."""
    floods: int = 0
    """Number of characters beside each answer."""


@dataclass
class ListeningDevice:
    """A device with its port and host key."""

    name: str
    port: int
    host_key: str
    misbehaviour: Misbehaviour = field(default_factory=Misbehaviour)


class SshDevices:
    """SSH servers of the devices, in a thread of their own until they are stopped."""

    def __init__(
        self, folder: Path, make_shell: Callable[[str], Shell], on_line: Callable[[str, str], None]
    ) -> None:
        """Prepare the servers; `on_line` gets device and line before the line has an effect."""
        self._folder = folder
        self._make_shell = make_shell
        self._on_line = on_line
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="devices", daemon=True)
        self._servers: list[asyncssh.SSHAcceptor] = []
        self.listening: dict[str, ListeningDevice] = {}

    @property
    def key_file(self) -> Path:
        """Private key of whoever may log in."""
        return self._folder / "client_key"

    def start(self, names: list[str], ports: dict[str, int] | None = None) -> None:
        """Start to listen, each device on a port of its own."""
        self._thread.start()
        if not self.key_file.exists():
            key = asyncssh.generate_private_key("ssh-ed25519")
            key.write_private_key(str(self.key_file))
            self.key_file.chmod(0o600)
            key.write_public_key(str(self.key_file) + ".pub")
        for name in names:
            future = asyncio.run_coroutine_threadsafe(
                self._listen(name, (ports or {}).get(name, 0)), self._loop
            )
            self.listening[name] = future.result(30)

    def stop(self) -> None:
        """Close all connections."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def new_host_key(self, name: str) -> None:
        """Change the host key of a device."""
        (self._folder / f"host_key_{name}").unlink()
        old = self.listening[name]
        future = asyncio.run_coroutine_threadsafe(self._listen(name, 0), self._loop)
        fresh = future.result(30)
        self.listening[name] = ListeningDevice(name, fresh.port, old.host_key, old.misbehaviour)

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        mine = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _listen(self, name: str, port: int) -> ListeningDevice:
        path = self._folder / f"host_key_{name}"
        if not path.exists():
            asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(path))
            path.chmod(0o600)
        host_key = asyncssh.read_private_key(str(path))
        devices = self

        class Server(asyncssh.SSHServer):
            def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
                self._conn = conn

            def begin_auth(self, username: str) -> bool:
                device = devices.listening.get(name)
                if username != USER or (device and device.misbehaviour.refuses):
                    self._conn.set_authorized_keys(asyncssh.import_authorized_keys(""))
                return True

        server = await asyncssh.listen(
            "127.0.0.1",
            port,
            server_factory=Server,
            server_host_keys=[host_key],
            authorized_client_keys=str(self.key_file) + ".pub",
            process_factory=lambda process: self._serve(name, process),
            encoding="utf-8",
            line_editor=False,
        )
        self._servers.append(server)
        public = host_key.export_public_key().decode().split()
        return ListeningDevice(name, server.get_port(), " ".join(public[:2]))

    async def _serve(self, name: str, process: "asyncssh.SSHServerProcess[str]") -> None:
        shell, how = self._make_shell(name), self.listening[name].misbehaviour
        if process.command is not None:
            process.stdout.write(self._answer(name, shell, process.command, how))
            process.exit(0)
            return
        process.stdout.write(f"\r\n{shell.prompt}")
        line, before = "", ""
        try:
            while typed := await process.stdin.read(4096):
                for char in typed:
                    is_rest, before = (before, char) == ("\r", "\n"), char
                    if char not in "\r\n":
                        line += char
                    elif not is_rest:
                        command, line = line.strip(), ""
                        if not await self._run_line(name, shell, process, command):
                            return
                await process.stdout.drain()
        except (asyncssh.BreakReceived, asyncssh.TerminalSizeChanged, ConnectionError, OSError):
            pass
        process.exit(0)

    async def _run_line(
        self, name: str, shell: Shell, process: "asyncssh.SSHServerProcess[str]", command: str
    ) -> bool:
        """Carry a line out and answer it; return False if the session is over."""
        how = self.listening[name].misbehaviour
        if command == "exit" and "(" not in shell.prompt:
            process.exit(0)
            return False
        answer = self._answer(name, shell, command, how)
        if how.hangs_after and command.startswith(how.hangs_after):
            await asyncio.sleep(HANGS_FOR_S)
        if how.drops_after and command.startswith(how.drops_after):
            process.channel.get_connection().abort()
            return False
        output = f"{answer}\n" if answer else ""
        process.stdout.write(f"{command}\n{output}".replace("\n", "\r\n") + shell.prompt)
        return True

    def _answer(self, name: str, shell: Shell, command: str, how: Misbehaviour) -> str:
        if command:
            self._on_line(name, command)
        answer = shell.run(command)
        if command.startswith(("show ", "dir ", "ping ")):
            answer += f"\n{how.says}" if how.says else ""
            answer += "\n" + "x" * how.floods if how.floods else ""
        return answer
