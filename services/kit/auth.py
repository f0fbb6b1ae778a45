"""Who may call: anybody on this machine's loopback, or whoever carries the configured key."""

import hmac
from ipaddress import ip_address

from pydantic import SecretStr
from starlette.datastructures import Headers

from services.kit.errors import FlowXpertError, ForbiddenError, UnauthorizedError

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Probes of an orchestrator carry no key; they tell nothing but yes or no."""


class UnsafeAddressError(FlowXpertError):
    """The configuration would serve other machines without a key."""


class MissingKeyError(UnauthorizedError):
    """The request carries no key, or a wrong one."""


class ForeignHostError(ForbiddenError):
    """The Host header is no loopback name, and no key is configured.

    A page of another site whose name was rebound to this machine would send that site's name.
    """


def is_loopback(host: str) -> bool:
    """Whether this address or name means this machine only."""
    name = host.strip("[]")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def check_address(host: str, api_key: SecretStr | None) -> None:
    """Refuse to listen where others can call without a key.

    Raises:
        UnsafeAddressError: Not loopback, and no key configured.
    """
    if api_key is None and not is_loopback(host):
        raise UnsafeAddressError(
            f"refusing to listen on {host!r} without a key: set FLOWXPERT_API_KEY, or keep "
            "FLOWXPERT_HOST on 127.0.0.1"
        )


def check_request(path: str, headers: Headers, api_key: SecretStr | None) -> None:
    """Let the request pass or say why not.

    Raises:
        ForeignHostError: No key is configured and the Host header is no loopback name.
        MissingKeyError: A key is configured and the request does not carry it.
    """
    if api_key is None:
        check_host(headers.get("host", ""))
    elif path not in OPEN_PATHS and not _carries(headers, api_key.get_secret_value()):
        raise MissingKeyError("send the key as `Authorization: Bearer …` or `X-API-Key: …`")


def check_host(host_header: str) -> None:
    """Refuse a Host header that is no loopback name, with or without a port."""
    name = host_header if host_header.endswith("]") else host_header.rsplit(":", 1)[0]
    if not is_loopback(name):
        raise ForeignHostError("without a configured key only loopback names are answered")


def _carries(headers: Headers, key: str) -> bool:
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    offered = bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
    return hmac.compare_digest(offered.encode(), key.encode())
