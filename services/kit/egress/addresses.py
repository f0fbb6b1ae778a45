"""Addresses that the platform may call, checked anew each time that a name is looked up."""

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from services.kit.errors import FlowXpertError

_NAT64 = IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NOT_GLOBAL = tuple(map(ip_network, ("192.0.0.0/24", "3fff::/20")))
"""Special-purpose blocks of IANA's registries that Python 3.11 takes for global ones."""

_PRIVATE = tuple(
    map(
        ip_network,
        (
            "127.0.0.0/8",
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "100.64.0.0/10",
            "198.18.0.0/15",  # pods of some clusters
            "::1/128",
            "fc00::/7",
        ),
    )
)
"""Blocks of the machine itself and of networks of one's own; link-local ones are not among them."""

_METADATA = frozenset(
    map(
        ip_address,
        (
            "168.63.129.16",  # Azure
            "100.100.100.200",  # Alibaba Cloud
            "fd00:ec2::254",  # AWS
            "fd20:ce::254",  # Google Cloud
        ),
    )
)
"""Addresses at which clouds give a machine its credentials, beside the link-local one of most."""


class ForbiddenAddressError(FlowXpertError):
    """The host or IP address is not allowed by the settings."""


def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Look a name up, and return its addresses once each of them is checked.

    Connect to one of these and not to the name, which may lead elsewhere a moment later.

    Raises:
        ForbiddenAddressError: One of them may not be called.
        OSError: The name is unknown.
    """
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    if not all(is_public(each) or (allow_private and is_private(each)) for each in addresses):
        raise ForbiddenAddressError(
            f"{host!a} has an address that is not {'to be called' if allow_private else 'public'}"
        )
    return addresses


def is_public(address: str) -> bool:
    """Tell whether an address is on the open internet, as is one embedded in it."""
    ip = _embedded_in(address)
    if isinstance(ip, IPv6Address) and ip not in _GLOBAL_UNICAST:
        return False
    is_special = ip.is_multicast or ip in _METADATA or any(ip in block for block in _NOT_GLOBAL)
    return ip.is_global and not is_special


def is_private(address: str) -> bool:
    """Tell whether an address is of this machine or of a network of one's own."""
    ip = _embedded_in(address)
    return ip not in _METADATA and any(ip in block for block in _PRIVATE)


def _embedded_in(address: str) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address leads to, else the address itself."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv4Address):
        return ip
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or ip
