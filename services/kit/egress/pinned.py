"""Transports for `httpx2`, which vendors' clients speak by, to checked addresses and with bounds.

A name is looked up and checked for each request, redirects included; the request then goes to the
address itself, with the name in its `Host` header and in the handshake of TLS. Private addresses
are allowed, since operators name these servers; link-local and metadata ones are not. An answer
that is compressed without being asked for it is refused, since some bytes may stand for gigabytes.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator

import httpx2

from services.kit.egress.addresses import resolve

_CONNECT_ERRORS = (httpx2.ConnectError, httpx2.ConnectTimeout)


class PinnedTransport(httpx2.BaseTransport):
    """Transport that raises `ForbiddenAddressError` for an address that may not be called."""

    def __init__(self, most_bytes: int) -> None:
        """Take the limit for one answer."""
        self._most_bytes = most_bytes
        self._inner = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; see the base class."""
        *others, last = _pin(request)
        for pinned in others:
            try:
                return self._bound(self._inner.handle_request(pinned))
            except _CONNECT_ERRORS:
                continue
        return self._bound(self._inner.handle_request(last))

    def close(self) -> None:
        """Release the connections."""
        self._inner.close()

    def _bound(self, response: httpx2.Response) -> httpx2.Response:
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Bounded(response.stream, _limit_of(response, self._most_bytes))
        return response


class AsyncPinnedTransport(httpx2.AsyncBaseTransport):
    """The same for clients of an event loop."""

    def __init__(self, most_bytes: int) -> None:
        """Take the limit for one answer."""
        self._most_bytes = most_bytes
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; see the base class."""
        *others, last = await asyncio.to_thread(_pin, request)
        for pinned in others:
            try:
                return self._bound(await self._inner.handle_async_request(pinned))
            except _CONNECT_ERRORS:
                continue
        return self._bound(await self._inner.handle_async_request(last))

    async def aclose(self) -> None:
        """Release the connections."""
        await self._inner.aclose()

    def _bound(self, response: httpx2.Response) -> httpx2.Response:
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _AsyncBounded(response.stream, _limit_of(response, self._most_bytes))
        return response


class _ByteLimit:
    """Count of an answer's bytes, which raises an error before they fill the memory."""

    def __init__(self, most_bytes: int, *, is_compressed: bool) -> None:
        self._left = most_bytes
        self._most_bytes = most_bytes
        self._is_compressed = is_compressed

    def count(self, part: bytes) -> bytes:
        if self._is_compressed:
            raise httpx2.ReadError("the answer is compressed, which was not asked for")
        self._left -= len(part)
        if self._left < 0:
            raise httpx2.ReadError(f"the answer has more than {self._most_bytes} bytes")
        return part


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, limit: _ByteLimit) -> None:
        self._stream = stream
        self._limit = limit

    def __iter__(self) -> Iterator[bytes]:
        return map(self._limit.count, self._stream)

    def close(self) -> None:
        self._stream.close()


class _AsyncBounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, limit: _ByteLimit) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield self._limit.count(part)

    async def aclose(self) -> None:
        await self._stream.aclose()


def _limit_of(response: httpx2.Response, most_bytes: int) -> _ByteLimit:
    encoding = response.headers.get("content-encoding", "identity").lower()
    return _ByteLimit(most_bytes, is_compressed=encoding != "identity")


def _pin(request: httpx2.Request) -> list[httpx2.Request]:
    """Return the request for each address of its host, in the order in which they are tried.

    Raises:
        ForbiddenAddressError: An address of the host may not be called.
        httpx2.ConnectError: The name is unknown.
    """
    name = request.url.raw_host.decode("ascii")
    try:
        addresses = resolve(name, request.url.port or 0, allow_private=True)
    except OSError as error:
        raise httpx2.ConnectError(str(error)) from error
    request.headers["accept-encoding"] = "identity"
    return [
        httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions | {"sni_hostname": name},
        )
        for address in addresses
    ]
