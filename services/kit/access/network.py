"""Loopback addresses, and protection against cross-site requests and DNS rebinding."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from services.kit.errors import ForbiddenError

_CHANGES_NOTHING = frozenset({"GET", "HEAD", "OPTIONS"})


class ForeignHostError(ForbiddenError):
    """The Host header is no loopback name, and access is off.

    A page of another site whose name was rebound to this machine would send that site's name.
    """


class ForeignOriginError(ForbiddenError):
    """A page of another site sent the request, with credentials that the browser adds by itself."""


def is_loopback(host: str) -> bool:
    """Tell whether an address or name means this machine only."""
    name = host.strip("[]")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def check_host(host_header: str) -> None:
    """Check that a Host header is a loopback name, with or without a port."""
    name = host_header if host_header.endswith("]") else host_header.rsplit(":", 1)[0]
    if not is_loopback(name):
        raise ForeignHostError("while access is off, only loopback names are answered")


def check_origin(method: str, headers: Headers) -> None:
    """Refuse a change requested by another site's page, if no header proves the sender.

    Browsers that keep the referrer to themselves say `null` for the origin, and those that talk to
    an address without TLS do not say from which site a form is: one of the two tells. Programs say
    neither.

    Raises:
        ForeignOriginError: It is a page of another site, or of another host.
    """
    if method in _CHANGES_NOTHING:
        return
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    is_here = origin is None or _authority(origin) == headers.get("host", "").lower()
    if not (is_here if site is None else site in {"same-origin", "none"}):
        raise ForeignOriginError("a page of another site may not change anything here")


def _authority(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None
