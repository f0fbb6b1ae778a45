"""Targets: the devices, hosts and servers that tools act on."""

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field

from services.execution.tools.compare import CatalogueEntry


class Target(CatalogueEntry):
    """A device, host or server. Its secrets are in files, which are read when they are needed."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    kind: str
    """Kind of target, as tools name it: `switch`, `host`, `metrics`."""
    host: str = ""
    port: int = Field(default=22, ge=1, le=65535)
    user: str = ""
    platform: str = "linux"
    """Platform as netmiko names it, such as `cisco_nxos`; `linux` has no terminal."""
    key_file: Path | None = None
    password_file: Path | None = None
    host_key: str = ""
    """Public key that it must show, `ssh-ed25519 AAAA…`; without one nothing is sent."""
    url: str = ""
    """Base URL of a target that speaks HTTP, Prometheus or MCP."""
    token_file: Path | None = None
    """File with the bearer token of a target that speaks HTTP."""
    command: tuple[str, ...] = ()
    """Command that starts an MCP server, spoken to over its standard input."""
    simulated: bool = False
    """True for a device of `flowxpert simulate`; only heeded on loopback."""

    @cached_property
    def digest(self) -> str:
        """Digest of this definition: another address is another target."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:32]

    @property
    def is_simulated(self) -> bool:
        """True if changing it changes nothing real."""
        hosts = {self.host, urlsplit(self.url).hostname if self.url else self.host}
        return self.simulated and hosts <= set(_LOOPBACK)


_LOOPBACK: tuple[Literal["127.0.0.1"], Literal["::1"]] = ("127.0.0.1", "::1")
