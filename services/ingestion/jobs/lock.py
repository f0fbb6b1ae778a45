"""Locks: one job at a time per source, and none during a reindex.

They work across threads, processes and hosts. The operating system or a PostgreSQL session
holds the lock, so it ends with the process, however that ends: no lease has to expire before a
killed job can go on.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sqlalchemy import text

from services.kit.sql.database import Database

_POLL_S = 0.2
_ALL_SOURCES = ""
"""Name that no source has. Every job shares its lock."""


@contextmanager
def source_lock(database: Database, source: str, folder: Path) -> Iterator[None]:
    """Wait until no other job works on `source`, then lock it; `folder` keeps lock files."""
    with (
        _lock(database, _ALL_SOURCES, folder, is_shared=True),
        _lock(database, source, folder, is_shared=False),
    ):
        yield


def all_sources_lock(database: Database, folder: Path) -> AbstractContextManager[None]:
    """Wait until no job works on any source, then lock them all."""
    return _lock(database, _ALL_SOURCES, folder, is_shared=False)


def _lock(
    database: Database, name: str, folder: Path, *, is_shared: bool
) -> AbstractContextManager[None]:
    key = hashlib.sha256(name.encode()).hexdigest()[:16]
    if database.is_sqlite:
        return _file_lock(folder / f"{key}.lock", is_shared=is_shared)
    return _session_lock(database, key, is_shared=is_shared)


@contextmanager
def _file_lock(path: Path, *, is_shared: bool) -> Iterator[None]:
    import fcntl  # noqa: PLC0415  (not on Windows, where the embedded queue does not run either)

    kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, kind | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_POLL_S)
        yield


@contextmanager
def _session_lock(database: Database, key: str, *, is_shared: bool) -> Iterator[None]:
    number = int(key, 16) - 2**63
    kind = "_shared" if is_shared else ""
    acquire = text(f"SELECT pg_try_advisory_lock{kind}(:key)")
    release = text(f"SELECT pg_advisory_unlock{kind}(:key)")
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not connection.scalar(acquire, {"key": number}):
            time.sleep(_POLL_S)
        try:
            yield
        finally:
            connection.execute(release, {"key": number})
