"""The SQL database: SQLite in a file by default, PostgreSQL by URL."""

import re
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from zlib import crc32

from sqlalchemy import (
    Connection,
    CursorResult,
    Dialect,
    Engine,
    ExceptionContext,
    Float,
    create_engine,
    event,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import DeclarativeBase, Session, sessionmaker
from sqlalchemy.sql import Executable
from sqlalchemy.types import TypeDecorator

from services.kit.errors import UnavailableError
from services.kit.files import require_new_file
from services.kit.observability.metrics import store_timer
from services.kit.sql.wal import switch_to_wal

WAIT_S = 10.0
"""Longest wait; after it SQLite itself waits once more and reports that the database is locked."""

_WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)", re.IGNORECASE)


class WriteLock:
    """One lock per engine, held from a transaction's first change to its end."""

    def __init__(self, engine: Engine) -> None:
        """Listen to the statements of the engine."""
        self._lock = threading.Lock()
        self._thread = threading.local()
        event.listen(engine, "before_cursor_execute", self._before)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open a transaction of this thread; a changing one excludes others until its end."""
        outer = getattr(self._thread, "held", None)
        self._thread.held = None if outer else False  # a transaction within one waits for itself
        try:
            yield
        finally:
            if self._thread.held:
                self._lock.release()
            self._thread.held = outer

    def _before(self, _connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:  # noqa: ANN401 - SQLAlchemy's
        if getattr(self._thread, "held", None) is False and _WRITES.match(statement):
            self._thread.held = self._lock.acquire(timeout=WAIT_S)


_FILE_FAULTS = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
}
"""Primary result codes of SQLite that tell of a broken file or a full disk (sqlite.org/rescode)."""

BUSY_TIMEOUT_MS = 10_000
"""Longest time that a SQLite writer waits for another one."""

_LOCK_SLOTS = 64
"""Number of advisory locks that keys share on PostgreSQL. A transaction that names thousands of
keys must not fill the server's lock table, which has room for some six thousand.
"""

_LOCK_SPACE = 0x666C7478
"""First half of the advisory lock keys; any fixed number will do."""

_TAKE_LOCKS = text(
    "SELECT pg_advisory_xact_lock(:space, turn) FROM unnest(CAST(:turns AS integer[])) AS turn"
)


class DatabaseUnavailableError(UnavailableError):
    """The database did not answer, or stayed locked for longer than the busy timeout."""


class Base(DeclarativeBase):
    """Base of every table. A room defines its tables in its own `tables.py` and nowhere else."""


class Instant(TypeDecorator[datetime]):
    """A time as seconds since the epoch, the same number on every engine, read back in UTC.

    A double holds microseconds exactly until the year 2242.
    """

    impl = Float
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> float | None:
        """Convert to seconds; a time without its zone is refused as ambiguous."""
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"expected a time with its zone, got {value!r}")
        return value.timestamp()

    def process_result_value(self, value: float | None, dialect: Dialect) -> datetime | None:
        """Convert to a time in UTC, to the microsecond."""
        del dialect
        return None if value is None else datetime.fromtimestamp(value, UTC)


Insert = Callable[[type[Base]], sqlite.Insert | postgresql.Insert]


def insert_of(session: Session) -> Insert:
    """Return the dialect's INSERT of a session, as `Database.insert`."""
    return _insert_of(session.get_bind())


def execute_and_count(session: Session, statement: Executable) -> int:
    """Execute a statement and return the number of rows that it changed."""
    return cast("CursorResult[Any]", session.execute(statement)).rowcount


class Database:
    """One engine and its sessions; thread-safe.

    On SQLite the write-ahead log is on, foreign keys are enforced, every commit is synced to the
    disk before it returns, and a writer takes the write lock with its first changing statement,
    so that reading never waits. Each statement that only reads sees the latest commit: guard a
    read-then-write by a condition in the UPDATE or by a unique constraint.
    """

    def __init__(self, url: str, *, synchronous: str = "FULL") -> None:
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self.engine = _create_engine(make_url(url), synchronous)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)
        self._write_lock: Callable[[], AbstractContextManager[None]]
        self._write_lock = WriteLock(self.engine).transaction if self.is_sqlite else nullcontext

    @classmethod
    def memory(cls) -> "Database":
        """Create a throw-away database for tests: a file that vanishes with the object."""
        scratch = tempfile.TemporaryDirectory(prefix="flowxpert-", ignore_cleanup_errors=True)
        database = cls(f"sqlite:///{Path(scratch.name) / 'scratch.db'}", synchronous="OFF")
        database._scratch = scratch
        return database

    @property
    def is_sqlite(self) -> bool:
        """True if the dialect is SQLite."""
        return self.engine.dialect.name == "sqlite"

    @property
    def insert(self) -> Insert:
        """The dialect's own INSERT, which supports ON CONFLICT."""
        return _insert_of(self.engine)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a session that commits when the block ends and rolls back when it raises.

        Objects stay readable after the block.

        Raises:
            DatabaseUnavailableError: No connection, or locked for too long.
        """
        with store_timer("database", "transaction"):
            try:
                with self._write_lock(), self._sessions.begin() as session:
                    yield session
            except (OperationalError, InterfaceError, PoolTimeoutError) as error:
                raise DatabaseUnavailableError(f"the database did not answer: {error}") from error

    def lock(self, session: Session, keys: Iterable[str]) -> None:
        """Lock these keys against other transactions until this one ends.

        On SQLite writers are serialised anyway, from their first change on: change, and then look.
        """
        slots = sorted({crc32(name.encode()) % _LOCK_SLOTS for name in keys})
        if slots and not self.is_sqlite:
            # In one order everywhere, so that no two transactions wait for each other.
            session.execute(_TAKE_LOCKS, {"space": _LOCK_SPACE, "turns": slots})

    def check(self) -> None:
        """Check that the database answers.

        Raises:
            DatabaseUnavailableError: It did not answer.
        """
        try:
            with self.engine.connect() as connection:
                connection.exec_driver_sql("SELECT 1")
        except SQLAlchemyError as error:
            raise DatabaseUnavailableError(f"the database did not answer: {error}") from error

    def migrate(self, *rooms: str) -> None:
        """Migrate these rooms' tables to the newest revision; repeating it changes nothing.

        Several processes may do it at once: one works, the others wait.

        Raises:
            OutdatedRevisionError: Tables of a room are too old for this code.
            UnknownRevisionError: Tables of a room are of newer code.
            DatabaseUnavailableError: No connection, or locked for too long.
        """
        from services.kit import migrations  # noqa: PLC0415 - alembic is slow to import

        migrations.migrate(self, *rooms)

    def wipe(self, *, rewrites: bool = False) -> None:
        """Overwrite what deleted rows left in the files: the log, and with `rewrites` all tables.

        SQLite overwrites deleted rows itself, but copies of them stay in the log and in pages that
        were rearranged. PostgreSQL frees the space of deleted rows, which later ones overwrite.

        Raises:
            DatabaseUnavailableError: It did not answer, or others kept it locked.
        """
        try:
            with self.engine.connect() as connection:
                alone = connection.execution_options(isolation_level="AUTOCOMMIT")
                if rewrites:
                    alone.exec_driver_sql("VACUUM")
                if self.is_sqlite:
                    alone.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        except SQLAlchemyError as error:
            raise DatabaseUnavailableError(f"what was deleted is not wiped: {error}") from error

    def close(self) -> None:
        """Release all connections; a throw-away database vanishes."""
        self.engine.dispose()
        if self._scratch is not None:
            self._scratch.cleanup()


def _insert_of(bind: Engine | Connection) -> Insert:
    return sqlite.insert if bind.dialect.name == "sqlite" else postgresql.insert


def _create_engine(url: URL, synchronous: str) -> Engine:
    if url.get_backend_name() == "sqlite":
        if url.database:
            require_new_file(Path(url.database))
        engine = create_engine(
            url,
            pool_size=20,
            max_overflow=40,
            hide_parameters=True,  # errors are logged, and what people wrote is not
            connect_args={"check_same_thread": False, "isolation_level": "IMMEDIATE"},
        )

        @event.listens_for(engine, "connect")
        def set_pragmas(connection: Any, _record: object) -> None:  # noqa: ANN401 - DBAPI's
            connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
            switch_to_wal(connection)
            connection.execute(f"PRAGMA synchronous={synchronous}")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA secure_delete=ON")

        @event.listens_for(engine, "handle_error")
        def name_file(context: ExceptionContext) -> None:
            error = context.original_exception
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _FILE_FAULTS:
                raise DatabaseUnavailableError(
                    f"the database {url.database} cannot be used: {error}"
                ) from error

        return engine
    if url.drivername in {"postgres", "postgresql"}:
        url = url.set(drivername="postgresql+psycopg")
    return create_engine(
        url,
        pool_size=20,
        max_overflow=40,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"connect_timeout": 5},
    )
