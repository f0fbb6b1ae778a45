"""Loopback addresses, and protection against cross-site requests and DNS rebinding."""

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from services.kit.errors import ForbiddenError

_CHANGES_NOTHING = frozenset({"GET", "HEAD", "OPTIONS"})


class ForeignHostError(ForbiddenError):
    """The Host header is none of the platform's names, and access is off.

    A page of another site whose name was rebound to this machine would send that site's name.
    """


class ForeignOriginError(ForbiddenError):
    """A page of another site sent the request, with credentials that the browser adds by itself."""


def is_loopback(host: str) -> bool:
    """Tell whether an address or name means this machine only."""
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


class OwnNames:
    """Names by which the platform is reached: loopback, its public address, and configured ones."""

    def __init__(self, public_url: str | None = None, hosts: Iterable[str] = ()) -> None:
        self._public = _authority(public_url) if public_url else None
        self._hosts = {host.lower() for host in hosts}
        if public_url:
            self._hosts.add(urlsplit(public_url).hostname or "")

    def check_host(self, headers: Headers) -> None:
        """Check that the one Host header is one of the names, with or without a port.

        Raises:
            ForeignHostError: It is another name, or missing, or there are several.
        """
        stated = headers.getlist("host")
        host = stated[0].lower() if len(stated) == 1 else ""
        name = host if host.endswith("]") else host.rsplit(":", 1)[0]
        if not is_loopback(name) and name not in self._hosts:
            raise ForeignHostError(
                "while access is off, only loopback names, that of FLOWXPERT_PUBLIC_URL and those "
                "of FLOWXPERT_ACCESS_HOSTS are answered"
            )

    def check_origin(self, method: str, headers: Headers) -> None:
        """Refuse another site's page if no header proves the sender.

        It may only lead people here: it changes nothing, and neither embeds an answer nor listens
        to a stream (https://web.dev/articles/fetch-metadata). Browsers that keep the referrer to
        themselves say `null` for the origin, and those that talk to an address without TLS do not
        say from which site a request is: one of the two tells. Programs say neither.

        Raises:
            ForeignOriginError: It is a page of another site, or of another host.
        """
        changes_nothing = method in _CHANGES_NOTHING
        if changes_nothing and headers.get("sec-fetch-mode") == "navigate":
            return
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        own = {headers.get("host", "").lower(), self._public}
        is_here = origin is None or _authority(origin) in own - {None, ""}
        if not (is_here if site is None else site in {"same-origin", "none"}):
            does = "read" if changes_nothing else "change"
            raise ForeignOriginError(f"a page of another site may not {does} anything here")


def _authority(url: str) -> str | None:
    try:
        return urlsplit(url).netloc.lower() or None
    except ValueError:
        return None
