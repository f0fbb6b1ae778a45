"""Fetch of the newest commit of a branch into a bare repository; nothing of it can run."""

import re
import shutil
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import urllib3
from dulwich.client import (
    GitClient,
    HTTPProxyUnauthorized,
    HTTPUnauthorized,
    LocalGitClient,
    Urllib3HttpGitClient,
)
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository
from dulwich.objects import ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo
from pydantic import SecretStr
from urllib3.connection import HTTPConnection, HTTPSConnection, port_by_scheme

from services.ingestion.settings import SyncSettings
from services.kit.egress.addresses import ForbiddenAddressError, resolve
from services.kit.egress.guard import EgressGuard
from services.kit.errors import FlowXpertError

_HERE = Ref(b"refs/heads/synced")
_SOCKET_TIMEOUT_S = 30.0
_ANSWER_WITHIN_S = 30.0
"""Longest time until an answer begins, redirects included."""
_TOO_LONG = "fetching it takes too long"


class FetchError(FlowXpertError):
    """The repository could not be fetched; trying again later may help."""


def fetch(url: str, branch: str, folder: Path, settings: SyncSettings) -> str:
    """Fetch the newest commit of `branch` into `folder`; return its id.

    Raises:
        FetchError: It is not there, not allowed, too large, or took too long.
    """
    bound = _FetchLimit(settings.most_bytes)
    try:
        with bound.within(settings.within_s):
            return _fetch(url, branch, folder, settings, bound)
    except (HTTPUnauthorized, HTTPProxyUnauthorized) as error:
        raise FetchError(
            "the repository asks for a login: FLOWXPERT_SYNC_CREDENTIALS holds none for this "
            "address, or a wrong one"
        ) from error
    except NotGitRepository as error:
        raise FetchError("there is no Git repository at this address") from error
    except (GitProtocolError, HangupException, KeyError, ValueError) as error:
        if bound.is_over:
            raise FetchError(_TOO_LONG) from error
        raise FetchError(f"the repository did not give it: {type(error).__name__}") from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        if bound.is_over:
            raise FetchError(_TOO_LONG) from error
        cause = error.__cause__ or error
        raise FetchError(f"the repository did not answer: {type(cause).__name__}") from error
    except ForbiddenAddressError as error:
        raise FetchError(str(error)) from error


def _fetch(
    url: str, branch: str, folder: Path, settings: SyncSettings, bound: "_FetchLimit"
) -> str:
    if sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) > bound.most_bytes:
        shutil.rmtree(folder)  # Old commits have piled up; the newest alone is needed.
    if not folder.exists():
        folder.mkdir(parents=True)
        Repo.init_bare(str(folder)).close()
    client, path = _client(url, settings, bound)
    wanted = f"refs/heads/{branch}".encode() if branch else b"HEAD"
    with Repo(str(folder)) as repository:
        result = client.fetch(
            path,
            repository,
            determine_wants=lambda refs, depth=None: [_commit_of(refs, wanted)],  # noqa: ARG005
            depth=1,
        )
        commit = _commit_of(result.refs, wanted)
        repository.refs[_HERE] = commit
        repository.refs.set_symbolic_ref(Ref(b"HEAD"), _HERE)
    return commit.decode()


def _commit_of(refs: Mapping[Ref, ObjectID | None], wanted: bytes) -> ObjectID:
    commit = refs.get(Ref(wanted))
    if commit is None:
        branch = wanted.decode().removeprefix("refs/heads/")
        raise FetchError(
            "the repository has no commit yet"
            if branch == "HEAD"
            else f"the repository has no branch {branch!r}"
        )
    return commit


def _client(url: str, settings: SyncSettings, bound: "_FetchLimit") -> tuple[GitClient, str]:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return LocalGitClient(), parts.path
    EgressGuard(
        settings.allowed_hosts,
        allow_private=settings.allow_private,
        timeout_s=_SOCKET_TIMEOUT_S,
        setting="FLOWXPERT_SYNC_ALLOWED_HOSTS",
    ).check(url)
    pool = _pool(url, settings, bound)
    return _LimitedClient(bound, f"{parts.scheme}://{parts.netloc}", pool_manager=pool), parts.path


class _FetchLimit:
    """Limits of one fetch: counts the bytes, and ends connections that take too long."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.is_over = False
        self._left = most_bytes
        self._connections: list[socket.socket] = []

    def count(self, size: int) -> None:
        if self.is_over:  # an answer that was broken off looks like a short one
            raise FetchError(_TOO_LONG)
        self._left -= size
        if self._left < 0:
            raise FetchError(f"it is larger than {self.most_bytes:,} bytes")

    def watch(self, connected: socket.socket) -> socket.socket:
        """Return the connection; another hold on it ends it later, whatever reads from it then."""
        self._connections.append(connected.dup())
        if self.is_over:
            raise FetchError(_TOO_LONG)
        return connected

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """End all connections if the block is not left in time: no server dribbles for ever."""
        timer = threading.Timer(seconds, self._end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _end(self) -> None:
        self.is_over = True
        for connection in self._connections:
            with suppress(OSError):  # it has ended by itself
                connection.shutdown(socket.SHUT_RDWR)


class _LimitedClient(Urllib3HttpGitClient):
    """Client that counts every byte of an answer as it is read."""

    def __init__(self, bound: _FetchLimit, base_url: str, **options: Any) -> None:  # noqa: ANN401
        super().__init__(base_url, **options)
        self._bound = bound

    def _http_request(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as its parent's
        with self._bound.within(_ANSWER_WITHIN_S):
            response, read = super()._http_request(*args, **options)
        self._bound.count(0)

        def counted(*size: int) -> bytes:
            block = read(*size)
            self._bound.count(len(block))
            return block

        return response, counted


class _Pool(urllib3.PoolManager):
    """Connections that show a login to the addresses it is for, redirected ones too."""

    def __init__(self, credentials: Mapping[str, SecretStr]) -> None:
        super().__init__(
            timeout=urllib3.Timeout(_SOCKET_TIMEOUT_S), retries=urllib3.Retry(2, redirect=3)
        )
        self._credentials = credentials

    def urlopen(  # type: ignore[override]  # its parents disagree as well
        self,
        method: str,
        url: str,
        redirect: bool = True,
        **options: Any,  # noqa: ANN401 - as its parent's
    ) -> urllib3.BaseHTTPResponse:
        check_path(url)
        headers = dict(options.pop("headers", None) or self.headers)
        headers.pop("authorization", None)
        place = url.partition("://")[2]
        fitting = [start for start in self._credentials if place.startswith(start)]
        if fitting:
            login = self._credentials[max(fitting, key=len)].get_secret_value()
            headers |= urllib3.util.make_headers(basic_auth=login)
        return super().urlopen(method, url, redirect, headers=headers, **options)


def check_path(url: str) -> None:
    """Check that an address means the same to whoever reads it: no `..`, in whatever spelling.

    Raises:
        ForbiddenAddressError: It may not.
    """
    if {".", ".."} & set(re.split(r"[/\\]", unquote(urlsplit(url).path))):
        raise ForbiddenAddressError(
            "an address goes straight to its repository, without `.` or `..`"
        )


def _pool(url: str, settings: SyncSettings, bound: _FetchLimit) -> urllib3.PoolManager:
    """Build connections to checked addresses of the URL's origin, also when redirected.

    From http a redirect may lead to https on the same host.
    """
    parts = urlsplit(url)
    host, port = (parts.hostname or "").lower(), parts.port
    origins = {(parts.scheme, host, port or port_by_scheme[parts.scheme]), ("https", host, 443)}

    def pin(connection: HTTPConnection, scheme: str) -> None:
        name = connection.host.strip("[]").lower()
        if (scheme, name, connection.port) not in origins:
            raise ForbiddenAddressError(f"{name!a} is another address, to which it redirects")
        connection._dns_host = resolve(name, connection.port, allow_private=settings.allow_private)[
            0
        ]

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            pin(self, "http")
            return bound.watch(super()._new_conn())

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            pin(self, "https")
            return bound.watch(super()._new_conn())

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Secure

    manager = _Pool(settings.credentials)
    manager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
    return manager
