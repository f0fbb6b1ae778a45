"""Targets: the devices, hosts and servers that tools speak to."""

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field

from services.executor.tools.entry import CatalogueEntry


class Target(CatalogueEntry):
    """One of them. A secret stands in a file of its own and is read when it is needed."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    kind: str
    """As tools name the kind that they are for: `switch`, `host`, `metrics`."""
    host: str = ""
    port: int = Field(default=22, ge=1, le=65535)
    user: str = ""
    platform: str = "linux"
    """As netmiko names it, such as `cisco_nxos`; `linux` runs commands without a terminal."""
    key_file: Path | None = None
    password_file: Path | None = None
    host_key: str = ""
    """The public key that it must show, `ssh-ed25519 AAAA…`; without one nothing is sent."""
    url: str = ""
    """Of what speaks HTTP, Prometheus or MCP."""
    token_file: Path | None = None
    """Of what speaks HTTP: a bearer token."""
    command: tuple[str, ...] = ()
    """Of an MCP server that is started here and spoken to over its standard input."""
    simulated: bool = False
    """A device of `flowxpert simulate`; only heeded on loopback."""

    @cached_property
    def digest(self) -> str:
        """Names this definition: another address is another target."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:32]

    @property
    def is_simulated(self) -> bool:
        """Whether changing it changes nothing real."""
        return self.simulated and self.host in _LOOPBACK


_LOOPBACK: tuple[Literal["127.0.0.1"], Literal["::1"]] = ("127.0.0.1", "::1")
