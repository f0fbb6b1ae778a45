"""One job at a time per source, over threads, processes and hosts.

The lock is held by the operating system or by a PostgreSQL session, so it ends with the process
that holds it, however that ends: no lease has to run out before a killed job can go on.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import text

from services.kit.database import Database

_POLL_S = 0.2


@contextmanager
def source_lock(database: Database, source: str, folder: Path) -> Iterator[None]:
    """Wait until no other job works on `source`, then hold it; `folder` keeps lock files."""
    key = hashlib.sha256(source.encode()).hexdigest()[:16]
    held = (
        _file_lock(folder / f"{key}.lock") if database.is_sqlite else _session_lock(database, key)
    )
    with held:
        yield


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    import fcntl  # noqa: PLC0415  (not on Windows, where the embedded queue does not run either)

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_POLL_S)
        yield


@contextmanager
def _session_lock(database: Database, key: str) -> Iterator[None]:
    number = int(key, 16) - 2**63
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        acquire = text("SELECT pg_try_advisory_lock(:key)")
        while not connection.scalar(acquire, {"key": number}):
            time.sleep(_POLL_S)
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": number})
