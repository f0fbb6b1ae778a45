"""Ports for servers that are started in processes of their own, where port 0 would not do."""

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import TextIO

_FIRST = 20_000
_OF_A_WORKER = 500
_WORKERS = 24


def _ports() -> Iterator[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    first = _FIRST + worker * _OF_A_WORKER
    return cycle(random.sample(range(first, first + _OF_A_WORKER), _OF_A_WORKER))


_NEXT = _ports()
_OURS: dict[int, TextIO] = {}
"""Locks on the ports of this process: two runs of the tests beside each other share none."""


def free_port() -> int:
    """A port at which nobody listens, and which nobody takes until the server that wants it does.

    It lies below those that Linux gives to whoever asks for any (from 32768 on), each worker of
    each run of the tests has ports of its own, and the same one comes again only after 500 others.
    """
    return next(port for port in _NEXT if _is_ours(port) and _is_free(port))


def _is_ours(port: int) -> bool:
    if port in _OURS:
        return True
    try:
        file = (Path(tempfile.gettempdir()) / f"flowxpert-port-{port}").open("w")
    except PermissionError:  # somebody else's
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    _OURS[port] = file
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
