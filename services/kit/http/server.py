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
"""Seconds that open requests and event streams get when the server stops."""
IDLE_S = 75
"""Keep-alive, longer than that of clients and balancers (`httpx` 5 s, most others 60 s): they have
to close a connection first, or a request that is on its way then is lost.
"""


SWITCH_INTERVAL_S = 0.00005
"""Longest time that one thread computes while another waits. A request changes threads some twenty
times, and each time waits this long for a thread that works on the queue; Python's default is 5
ms.
"""


def shorten_switch_interval() -> None:
    """Shorten the switch interval of a process that answers requests beside other work."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)


class AddressInUseError(UnavailableError):
    """Another process listens on the address."""


class ServerThread:
    """HTTP server of one app on one address, until it is stopped."""

    def __init__(self, app: ASGIApp, *, host: str, port: int) -> None:
        """Bind the address at once; port 0 takes a free one.

        Raises:
            AddressInUseError: The address cannot be bound.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        address = host.strip("[]"), port
        try:
            self._socket = socket.create_server(address, family=family, backlog=2048)
        except OSError as error:
            raise AddressInUseError(f"cannot listen on {host}:{port}: {error.strerror}") from error
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
        """URL of the server."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def start(self) -> None:
        """Start to serve; return once requests are answered."""
        self._thread.start()
        until = time.monotonic() + START_TIMEOUT_S
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > until:
                raise UnavailableError("the HTTP server did not start; the log says why")
            time.sleep(0.01)

    def stop(self) -> None:
        """Finish the open requests, then stop."""
        self._server.should_exit = True
        self._thread.join(DRAIN_S * 2)
