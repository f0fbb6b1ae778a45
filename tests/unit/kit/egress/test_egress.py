"""Whatever a called server or the DNS does, a call ends soon and at a checked address."""

import asyncio
import gzip
import socket
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import httpx2
import pytest

from services.kit.egress.addresses import ForbiddenAddressError, is_private, is_public, resolve
from services.kit.egress.bounded import BoundedTransport
from services.kit.egress.pinned import AsyncPinnedTransport, PinnedTransport

PUBLIC = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"]
PRIVATE = [
    *("127.0.0.1", "10.0.0.1", "172.16.9.9", "192.168.1.1", "100.64.0.1", "198.19.0.1", "::1"),
    *("fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
]
NEITHER = [
    *("169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1%eth0", "0.0.0.0"),
    *("::", "::127.0.0.1", "fec0::1", "64:ff9b:1::7f00:1", "2001:0:7f00:1::", "224.0.0.1"),
    *("ff02::1", "255.255.255.255", "240.0.0.1", "168.63.129.16", "100.100.100.200"),
    *("192.0.0.192", "fd00:ec2::254", "3fff::1", "5f00::1", "2001:db8::1"),
]


@pytest.mark.parametrize("address", PUBLIC + PRIVATE + NEITHER)
def test_an_address_is_public_or_private_or_never_called(address):
    assert is_public(address) is (address in PUBLIC)
    assert is_private(address) is (address in PRIVATE)


@pytest.mark.parametrize("name", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "localhost"])
def test_a_name_for_loopback_is_that_however_it_is_written(name):
    with pytest.raises(ForbiddenAddressError, match="not public"):
        resolve(name, 80, allow_private=False)
    assert set(resolve(name, 80, allow_private=True)) <= {"127.0.0.1", "::1"}


class Server(ThreadingHTTPServer):
    """A server on loopback that sends these bytes, each so many seconds after the last."""

    daemon_threads = True

    def __init__(self):
        server = self
        self.pieces, self.pause_s, self.requests = [], 0.0, []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.requests.append(dict(self.headers.items()))
                with suppress(OSError):
                    for piece in server.pieces:
                        self.wfile.write(piece)
                        time.sleep(server.pause_s)

            def log_message(self, *args):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, args=[0.01], daemon=True).start()


@pytest.fixture
def server():
    running = Server()
    yield running
    running.shutdown()
    running.server_close()


def answer(body, *headers):
    return b"\r\n".join([b"HTTP/1.0 200 OK", *headers, b"", body])


def ask_httpx(url):
    transport = BoundedTransport(allow_private=True, within_s=0.4)
    with httpx.Client(transport=transport, timeout=5, trust_env=False) as client:
        return client.get(url).text


def ask_httpx2(url):
    with httpx2.Client(transport=PinnedTransport(1000), trust_env=False) as client:
        return client.get(url).text


def ask_httpx2_in_a_loop(url):
    async def ask():
        transport = AsyncPinnedTransport(1000)
        async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
            return (await client.get(url)).text

    return asyncio.run(ask())


every_client = pytest.mark.parametrize("ask", [ask_httpx, ask_httpx2, ask_httpx2_in_a_loop])


@every_client
def test_the_checked_address_is_called_by_its_name(ask, server, monkeypatch):
    real, answers = socket.getaddrinfo, ["127.0.0.1", "169.254.169.254"]

    def look_up(host, *args, **more):
        wanted = host if isinstance(host, str) else host.decode()
        return real(answers.pop(0) if wanted == "api.inner" else wanted, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    server.pieces = [answer(b"fine")]
    url = f"http://api.inner:{server.server_port}/"
    assert ask(url) == "fine"
    assert answers == ["169.254.169.254"]
    assert server.requests[0].get("host", server.requests[0].get("Host")) == url[7:-1]
    with pytest.raises(ForbiddenAddressError, match="not to be called"):
        ask(url)
    assert len(server.requests) == 1


@every_client
def test_a_compressed_answer_is_not_unpacked(ask, server):
    server.pieces = [answer(gzip.compress(b"0" * 100), b"content-encoding: gzip")]
    with pytest.raises((httpx.DecodingError, httpx2.ReadError), match="compressed"):
        ask(f"http://127.0.0.1:{server.server_port}/")


@pytest.mark.parametrize("ask", [ask_httpx2, ask_httpx2_in_a_loop])
def test_a_long_answer_is_cut_off(ask, server):
    server.pieces = [answer(b"0" * 1001)]
    with pytest.raises(httpx2.ReadError, match="more than 1000"):
        ask(f"http://127.0.0.1:{server.server_port}/")


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_an_answer_that_drips_is_not_waited_for(start, server):
    server.pieces, server.pause_s = [start, *[b"x"] * 60], 0.05
    begun = time.monotonic()
    with pytest.raises(httpx.ReadTimeout):
        ask_httpx(f"http://127.0.0.1:{server.server_port}/")
    assert time.monotonic() - begun < 2
