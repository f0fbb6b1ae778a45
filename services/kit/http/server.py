"""An HTTP server in a thread, so that the main thread keeps signals and the terminal."""

import socket
import sys
import threading
import time

import uvicorn
from starlette.types import ASGIApp

from services.kit.errors import UnavailableError

START_TIMEOUT_S = 30.0
DRAIN_S = 3
"""Time that open requests and event streams get when the server stops."""
IDLE_S = 75
"""Longer than clients and balancers keep a connection (`httpx` 5 s, most others 60 s): it is theirs
to close it, or a request that is on its way then is lost."""


SWITCH_INTERVAL_S = 0.00005
"""How long one thread may compute while another waits. A request changes hands some twenty times,
and each time it waits this long for a thread that works on the queue; Python's default is 5 ms."""


def give_way_quickly() -> None:
    """For a process that answers requests and works beside that."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)


class AddressInUseError(UnavailableError):
    """Something else listens on the address."""


class ServerThread:
    """Serves one app on one address until it is stopped."""

    def __init__(self, app: ASGIApp, *, host: str, port: int) -> None:
        """Takes the address at once; port 0 takes a free one.

        Raises:
            AddressInUseError: The address cannot be had.
        """
        self._socket = _listen(host, port)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=DRAIN_S,
                timeout_keep_alive=IDLE_S,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="http", daemon=True
        )

    @property
    def url(self) -> str:
        """Where it answers."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def start(self) -> None:
        """Begin to serve; returns once requests are answered."""
        self._thread.start()
        until = time.monotonic() + START_TIMEOUT_S
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > until:
                raise UnavailableError("the HTTP server did not start; the log says why")
            time.sleep(0.01)

    def stop(self) -> None:
        """Answer what has begun, then end."""
        self._server.should_exit = True
        self._thread.join(DRAIN_S * 2)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
    except OSError as error:
        raise AddressInUseError(f"cannot listen on {host}:{port}: {error.strerror}") from error
