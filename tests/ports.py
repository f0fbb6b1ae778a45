"""Ports for servers that are started in processes of their own, where port 0 would not do."""

import os
import random
import socket
from collections.abc import Iterator
from itertools import cycle

_FIRST = 20_000
_OF_A_WORKER = 500
_WORKERS = 24


def _ports() -> Iterator[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    first = _FIRST + worker * _OF_A_WORKER
    return cycle(random.sample(range(first, first + _OF_A_WORKER), _OF_A_WORKER))


_NEXT = _ports()
_OURS: dict[int, socket.socket] = {}
"""The ports of this process, each held by its number in UDP, which no server here speaks: two runs
of the tests beside each other share none."""


def free_port() -> int:
    """A port at which nobody listens, and which nobody takes until the server that wants it does.

    It lies below those that Linux gives to whoever asks for any (from 32768 on), each worker of
    each run of the tests has ports of its own, and the same one comes again only after 500 others.
    """
    return next(port for port in _NEXT if _is_ours(port) and _is_free(port))


def _is_ours(port: int) -> bool:
    if port in _OURS:
        return True
    holder = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        holder.bind(("127.0.0.1", port))
    except OSError:
        holder.close()
        return False
    _OURS[port] = holder
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
