"""HTTP to allowed hosts only, protected against server-side request forgery.

The host is looked up once, every address that it has is checked, and the connection goes to the
checked one: a name cannot be rebound between the check and the call. No redirect is followed and no
proxy is used.
"""

import hashlib
import hmac
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from services.kit.errors import FlowXpertError

_NAT64 = IPv6Network("64:ff9b::/96")


class ForbiddenAddressError(FlowXpertError):
    """The host or IP address is not allowed by the settings."""


class NotDeliveredError(FlowXpertError):
    """The host did not accept the request; trying again may help."""


@dataclass(frozen=True)
class OutgoingRequest:
    """A request to send."""

    url: str
    headers: dict[str, str]
    body: bytes
    method: str = "POST"

    def signed(self, secret: str) -> "OutgoingRequest":
        """Return it signed over the time and its body, so that a kept copy cannot be sent later."""
        seconds = str(int(time.time()))
        digest = hmac.new(secret.encode(), seconds.encode() + b"." + self.body, hashlib.sha256)
        proof = {
            "x-flowxpert-timestamp": seconds,
            "x-flowxpert-signature": f"v1={digest.hexdigest()}",
        }
        return replace(self, headers=self.headers | proof)


class EgressGuard:
    """Sender of requests to allowed hosts; thread-safe."""

    def __init__(
        self,
        allowed_hosts: Iterable[str],
        *,
        allow_private: bool,
        timeout_s: float,
        setting: str = "FLOWXPERT_WRITEBACK_ALLOWED_HOSTS",
    ) -> None:
        """Take the allowed hosts; `allow_private` admits private addresses and plain HTTP.

        `setting` is the setting of the hosts, for error messages.
        """
        self._setting = setting
        self._allowed = frozenset(host.lower() for host in allowed_hosts)
        self._allow_private = allow_private
        self._timeouts = dict.fromkeys(("connect", "read", "write", "pool"), timeout_s)

    @cached_property
    def _pool(self) -> httpcore.ConnectionPool:
        return httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            network_backend=_CheckedBackend(allow_private=self._allow_private),
            max_keepalive_connections=0,  # connections are checked when they are made
        )

    def check(self, url: str) -> None:
        """Check that the settings allow a URL.

        Raises:
            ForbiddenAddressError: They do not.
        """
        parts = urlsplit(url)
        if (parts.hostname or "").lower() not in self._allowed:
            raise ForbiddenAddressError(f"{parts.hostname!a} is not in {self._setting}")
        if parts.scheme != "https" and not self._allow_private:
            raise ForbiddenAddressError(f"{parts.hostname!a}: only https is written to")

    def send(self, request: OutgoingRequest) -> None:
        """Send the request; of the answer only the status is read.

        Raises:
            ForbiddenAddressError: The host, or an address of it, is not allowed.
            NotDeliveredError: It did not answer with a success.
        """
        self.check(request.url)
        host = urlsplit(request.url).hostname
        headers = [(name.encode(), value.encode()) for name, value in request.headers.items()]
        try:
            with self._pool.stream(
                request.method,
                request.url,
                headers=headers,
                content=request.body,
                extensions={"timeout": self._timeouts},
            ) as answer:
                status = answer.status
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
            raise NotDeliveredError(f"{host}: {type(error).__name__}") from error
        if not 200 <= status < 300:
            raise NotDeliveredError(f"{host} answered {status}")


class _CheckedBackend(httpcore.NetworkBackend):
    """Network backend that connects to checked addresses, not to names."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        addresses = [str(entry[4][0]) for entry in entries]
        if not self._allow_private and not all(map(is_public, addresses)):
            raise ForbiddenAddressError(f"{host!a} has an address that is not public")
        return self._inner.connect_tcp(addresses[0], port, timeout, local_address, socket_options)


def is_public(address: str) -> bool:
    """Tell whether an address is on the open internet, as is one embedded in it."""
    ip: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        carried = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            carried = IPv4Address(int(ip) & 0xFFFFFFFF)
        if carried is not None:
            return is_public(str(carried))
    return ip.is_global and not ip.is_multicast
