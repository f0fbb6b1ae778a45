"""The SQL database: SQLite in a file by default, PostgreSQL by URL."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from zlib import crc32

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import DeclarativeBase, Session, sessionmaker

from services.kit.errors import UnavailableError
from services.kit.observability.metrics import store_timer
from services.kit.sql.write_turns import WriteTurns

BUSY_TIMEOUT_MS = 10_000
"""How long a SQLite writer waits for another one."""

_TURNS = 64
"""Locks that names share on PostgreSQL. A transaction that names thousands of things must not fill
the server's table of locks, which has room for some six thousand."""

_TURN_LOCKS = 0x666C7478
"""First half of those locks' keys; any fixed number does."""

_TAKE_TURNS = text(
    "SELECT pg_advisory_xact_lock(:space, turn) FROM unnest(CAST(:turns AS integer[])) AS turn"
)


class DatabaseUnavailableError(UnavailableError):
    """The database did not answer, or stayed locked for longer than the busy timeout."""


class Base(DeclarativeBase):
    """Base of every table. A room defines its tables in its own `tables.py` and nowhere else."""


Insert = Callable[[type[Base]], sqlite.Insert | postgresql.Insert]


def insert_of(session: Session) -> Insert:
    """As `Database.insert`, where there is a session alone."""
    return _insert_of(session.get_bind())


class Database:
    """One engine and the sessions on it; safe to share between threads.

    On SQLite the write-ahead log is on, foreign keys are enforced, every commit is synced to the
    disk before it returns, and a writer takes the write lock with its first changing statement,
    so that reading never waits. Each statement that only reads sees the latest commit: guard a
    read-then-write by a condition in the UPDATE or by a unique constraint.
    """

    def __init__(self, url: str, *, synchronous: str = "FULL") -> None:
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self.engine = _create_engine(make_url(url), synchronous)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)
        self._turn: Callable[[], AbstractContextManager[None]]
        self._turn = WriteTurns(self.engine).turn if self.is_sqlite else nullcontext

    @classmethod
    def memory(cls) -> "Database":
        """A throw-away database for tests: behaves as a file does and vanishes with the object."""
        scratch = tempfile.TemporaryDirectory(prefix="flowxpert-", ignore_cleanup_errors=True)
        database = cls(f"sqlite:///{Path(scratch.name) / 'scratch.db'}", synchronous="OFF")
        database._scratch = scratch
        return database

    @property
    def is_sqlite(self) -> bool:
        """Whether the dialect is SQLite."""
        return self.engine.dialect.name == "sqlite"

    @property
    def insert(self) -> Insert:
        """The dialect's own INSERT, which knows what to do about a row that is there."""
        return _insert_of(self.engine)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session that commits when the block ends and rolls back when it raises.

        Objects stay readable after the block.

        Raises:
            DatabaseUnavailableError: No connection, or locked for too long.
        """
        with store_timer("database", "transaction"):
            try:
                with self._turn(), self._sessions.begin() as session:
                    yield session
            except (OperationalError, InterfaceError, PoolTimeoutError) as error:
                raise DatabaseUnavailableError(f"the database did not answer: {error}") from error

    def take_turn(self, session: Session, names: Iterable[str]) -> None:
        """Until the transaction ends, every other one waits here that names one of these too.

        On SQLite writers take turns anyway, from their first change on: change, and then look.
        """
        turns = sorted({crc32(name.encode()) % _TURNS for name in names})
        if turns and not self.is_sqlite:
            # In one order everywhere, so that no two transactions wait for each other.
            session.execute(_TAKE_TURNS, {"space": _TURN_LOCKS, "turns": turns})

    def check(self) -> None:
        """Ask the database for a sign of life.

        Raises:
            DatabaseUnavailableError: It gave none.
        """
        try:
            with self.engine.connect() as connection:
                connection.exec_driver_sql("SELECT 1")
        except SQLAlchemyError as error:
            raise DatabaseUnavailableError(f"the database did not answer: {error}") from error

    def migrate(self, *rooms: str) -> None:
        """Bring these rooms' tables to the newest revision; doing it again changes nothing.

        Several processes may do it at once: one works, the others wait.

        Raises:
            DatabaseUnavailableError: No connection, or locked for too long.
        """
        from services.kit.migrations import upgrade  # noqa: PLC0415 - alembic is slow to import

        for room in rooms:
            upgrade(self, room)

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
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(
            url,
            pool_size=20,
            max_overflow=40,
            connect_args={"check_same_thread": False, "isolation_level": "IMMEDIATE"},
        )
        event.listen(engine, "connect", _sqlite_pragmas(synchronous))
        return engine
    if url.drivername in {"postgres", "postgresql"}:
        url = url.set(drivername="postgresql+psycopg")
    return create_engine(
        url,
        pool_size=20,
        max_overflow=40,
        pool_pre_ping=True,
        connect_args={"connect_timeout": 5},
    )


def _sqlite_pragmas(synchronous: str) -> Any:  # noqa: ANN401 - an SQLAlchemy listener
    def set_pragmas(connection: Any, _record: object) -> None:  # noqa: ANN401 - DBAPI connection
        for pragma in (
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            "journal_mode=WAL",
            f"synchronous={synchronous}",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    return set_pragmas
