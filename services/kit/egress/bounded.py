"""Transport for `httpx` to checked addresses, bounded in time as a whole.

A name is looked up for each request, every address that it has is checked, and the connection goes
to a checked one: a name cannot be rebound between the check and the call. A client of it follows
no redirect unless it says so, and then each one is checked in the same way.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

from services.kit.egress.addresses import resolve


class BoundedTransport(httpx.BaseTransport):
    """Transport without kept connections, proxies and compression; thread-safe.

    It raises `ForbiddenAddressError` for a name with an address that may not be called. An answer
    that is compressed all the same is refused, since some bytes may stand for gigabytes.
    """

    def __init__(self, *, allow_private: bool, within_s: float) -> None:
        """Take the seconds from the connection to the last byte of the answer."""
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            network_backend=_CheckedBackend(allow_private=allow_private, within_s=within_s),
            max_keepalive_connections=0,  # connections are checked when they are made
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; see the base class."""
        request.headers["accept-encoding"] = "identity"
        url = request.url
        wanted = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _as_httpx_errors():
            answer = self._pool.handle_request(wanted)
        response = httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer),
            extensions=answer.extensions,
        )
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            response.close()
            raise httpx.DecodingError("the answer is compressed, which was not asked for")
        return response

    def close(self) -> None:
        """Release the connections."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx_errors():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


@contextmanager
def _as_httpx_errors() -> Iterator[None]:
    """Raise the errors of `httpcore` as those of `httpx`, which have the same names."""
    try:
        yield
    except (
        httpcore.NetworkError,
        httpcore.TimeoutException,
        httpcore.ProtocolError,
        httpcore.UnsupportedProtocol,
    ) as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error


class _CheckedBackend(httpcore.NetworkBackend):
    """Network backend that connects to checked addresses, not to names."""

    def __init__(self, *, allow_private: bool, within_s: float) -> None:
        self._allow_private = allow_private
        self._within_s = within_s
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        until = time.monotonic() + self._within_s
        try:
            addresses = resolve(host, port, allow_private=self._allow_private)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        for address in addresses:
            try:
                limit_s = _seconds_left(until, timeout, httpcore.ConnectTimeout)
                stream = self._inner.connect_tcp(
                    address, port, limit_s, local_address, socket_options
                )
                return _BoundedStream(stream, until)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if address == addresses[-1]:
                    raise
        raise httpcore.ConnectError(f"{host!a} has no address")


class _BoundedStream(httpcore.NetworkStream):
    """Connection that ends at a time: a limit of a socket counts from the last byte."""

    def __init__(self, inner: httpcore.NetworkStream, until: float) -> None:
        self._inner = inner
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        limit_s = _seconds_left(self._until, timeout, httpcore.ReadTimeout)
        return self._inner.read(max_bytes, limit_s)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _seconds_left(self._until, timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        limit_s = _seconds_left(self._until, timeout, httpcore.ConnectTimeout)
        return _BoundedStream(
            self._inner.start_tls(ssl_context, server_hostname, limit_s), self._until
        )

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as its parent's
        return self._inner.get_extra_info(info)


def _seconds_left(
    until: float, timeout: float | None, error: type[httpcore.TimeoutException]
) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise error("it took too long as a whole")
    return left if timeout is None else min(left, timeout)
