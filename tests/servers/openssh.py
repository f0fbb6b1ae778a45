"""An OpenSSH server of a test's own: its keys, its configuration, and who may log in."""

import getpass
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import paramiko

from services.execution.tools.target import Target
from tests.ports import free_port

SSHD = Path("/usr/sbin/sshd")
WHERE = "there is no /usr/sbin/sshd: Debian has it in the package `openssh-server`"
START_WITHIN_S = 20
_CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PrintMotd no
"""


@dataclass
class SshHost:
    """This machine, as it is logged in to on a port of loopback."""

    folder: Path
    port: int

    @property
    def key_file(self) -> Path:
        """The private key of whoever may log in."""
        return self.folder / "client_key"

    @property
    def target(self) -> Target:
        """As a catalogue has it."""
        kind, key, *_ = (self.folder / "host_key.pub").read_text().split()
        return Target(
            name="host-1",
            kind="host",
            host="127.0.0.1",
            port=self.port,
            user=getpass.getuser(),
            key_file=self.key_file,
            host_key=f"{kind} {key}",
        )


def new_key(path: Path, kind: str = "ed25519") -> Path:
    """A key pair; the public half stands beside it as `.pub`."""
    path.unlink(missing_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(path)], check=True)
    return path


@contextmanager
def openssh(folder: Path) -> Iterator[SshHost]:
    """The server, which lets the user of this process in by one key."""
    new_key(folder / "host_key")
    public = new_key(folder / "client_key").with_suffix(".pub").read_text()
    (folder / "authorized_keys").write_text(public)
    if os.geteuid() == 0:  # then it wants this folder, to which it confines whoever logs in
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with serving(folder) as host:
        yield host


@contextmanager
def serving(folder: Path) -> Iterator[SshHost]:
    """The server with what lies in the folder, on a port of its own."""
    port = free_port()
    config = folder / f"sshd_config_{port}"
    config.write_text(_CONFIG.format(folder=folder, port=port))
    with (folder / f"log_{port}").open("w") as log:
        command = [str(SSHD), "-D", "-e", "-f", str(config)]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        until = time.monotonic() + START_WITHIN_S
        while not _listens(port):
            is_hopeless = process.poll() is not None or time.monotonic() > until
            assert not is_hopeless, (folder / f"log_{port}").read_text()
            time.sleep(0.05)
        yield SshHost(folder, port)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _listens(port: int) -> bool:
    transport = None
    try:
        transport = paramiko.Transport(("127.0.0.1", port))
        transport.start_client(timeout=5)
    except (OSError, paramiko.SSHException):
        return False
    finally:
        if transport is not None:
            transport.close()
    return True
