"""Alembic for every room that has tables: version table `alembic_<room>`.

They are defined in `tables.py` of the package that holds them, `services/<package>`, with
`migrations/versions` beside. After changing them, write the migration with
`python -m services.kit.migrations ROOM "What changes"`, run `ruff format`, read what it wrote.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Table, inspect, text
from sqlalchemy.exc import OperationalError

from services.kit.errors import FlowXpertError
from services.kit.sql.database import Base, Database, DatabaseUnavailableError

SERVICES = Path(__file__).parents[2]
_ROOM_OF_PACKAGE = {"execution": "executor", "runbook": "procedure", "tickets": "gateway"}
"""Rooms named otherwise than the package that holds their tables."""

PACKAGES = {
    _ROOM_OF_PACKAGE.get(package, package): package
    for package in (path.parent.name for path in SERVICES.glob("*/tables.py"))
}
"""The package that holds the tables of each room; no table of one room refers to another's."""

ROOMS = tuple(sorted(PACKAGES))

_ADVISORY_LOCK = 0x666C6F77
"""PostgreSQL lock under which processes migrate one after the other; any fixed number does."""

_RESTORE_MARK = "restore_unfinished"
"""Table that is there while a restore fills the others."""

RELEASE_BEFORE = "v0.1.0-alpha.1"
"""The release that brings tables of any age to the first revision of every room."""


def room_tables(room: str) -> list[Table]:
    """Return the tables of a room; none if no package holds any of it."""
    if room not in PACKAGES:
        return []
    module = f"services.{PACKAGES[room]}.tables"
    importlib.import_module(module)
    return [
        mapper.local_table
        for mapper in Base.registry.mappers
        if mapper.class_.__module__ == module and isinstance(mapper.local_table, Table)
    ]


class UnknownRevisionError(FlowXpertError):
    """The tables are of a revision that this code does not know: of newer code."""


class OutdatedRevisionError(FlowXpertError):
    """The tables are of a revision before the first that this code has."""


class UnfinishedRestoreError(FlowXpertError):
    """A restore into these tables was broken off, so that they hold a part of the backup."""


def mark_restore(connection: Connection) -> None:
    """Mark the database as one that is being restored, until `mark_restored`."""
    connection.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {_RESTORE_MARK} (begun INTEGER)")


def mark_restored(connection: Connection) -> None:
    """Take the mark of a restore away."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {_RESTORE_MARK}")


def refuse_unfinished_restore(connection: Connection) -> None:
    """Refuse a database that a killed restore has left half filled.

    Raises:
        UnfinishedRestoreError: It is one.
    """
    if inspect(connection).has_table(_RESTORE_MARK):
        raise UnfinishedRestoreError(
            "a restore into this database was broken off and left a part of the backup: run"
            " `flowxpert restore FILE --replace` again"
        )


def revisions_of(connection: Connection) -> dict[str, str]:
    """Return the revision of each room's tables; rooms that have none are left out."""
    existing = set(inspect(connection).get_table_names())
    found = {
        room: connection.scalar(text(f"SELECT version_num FROM alembic_{room}"))  # noqa: S608
        for room in ROOMS
        if f"alembic_{room}" in existing
    }
    return {room: str(revision) for room, revision in found.items() if revision}


def check_revisions(revisions: Mapping[str, str]) -> None:
    """Refuse tables that the migrations of this code do not start from.

    Raises:
        OutdatedRevisionError: A room's are older than its first migration.
        UnknownRevisionError: A room's are newer than its last one.
    """
    for room in sorted(revisions.keys() & set(ROOMS)):
        revision, known = revisions[room], _known_revisions(room)
        if revision < min(known):
            raise OutdatedRevisionError(
                f"the tables of {room} are of revision {revision}, and this release begins with "
                f"{min(known)}: start this platform once with release {RELEASE_BEFORE}, then with "
                "this one"
            )
        if revision not in known:
            raise UnknownRevisionError(
                f"the tables of {room} are of revision {revision}, which a newer release has made"
            )


def migrate(database: Database, *rooms: str) -> None:
    """Bring the tables of these rooms to the newest revision, once those of all were checked.

    Raises:
        OutdatedRevisionError: Tables are too old for this code; nothing was changed.
        UnknownRevisionError: Tables are of newer code; nothing was changed.
        UnfinishedRestoreError: A restore was broken off.
        DatabaseUnavailableError: No connection, or locked for too long.
    """
    try:
        with database.engine.connect() as connection:
            refuse_unfinished_restore(connection)
            revisions = revisions_of(connection)
    except OperationalError as error:
        raise DatabaseUnavailableError(f"the database did not migrate: {error}") from error
    check_revisions(revisions)
    for room in rooms:
        upgrade(database, room)


def upgrade(database: Database, room: str, revision: str = "head") -> None:
    """Bring the room's tables to a revision, in one transaction.

    Raises:
        UnknownRevisionError: This code does not know it.
        DatabaseUnavailableError: No connection, or locked for too long.
    """
    if not _versions(room).is_dir():
        return
    try:
        with database.engine.connect() as connection:
            connection.detach()  # it is closed in the end, not given to others
            # No other migrating process can share this transaction.
            if database.is_sqlite:
                # A column is changed by making the table anew, and dropping the old one would take
                # along every row that refers to it.
                connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
            command.upgrade(_config(room, connection), revision)
            connection.commit()
    except CommandError as error:
        raise UnknownRevisionError(f"{room}: {error}") from error
    except OperationalError as error:
        raise DatabaseUnavailableError(f"the database did not migrate: {error}") from error


def new_revision(room: str, message: str) -> None:
    """Write a migration from the room's newest revision to its tables as they are now."""
    versions = _versions(room)
    versions.mkdir(parents=True, exist_ok=True)
    for package in (versions, versions.parent):
        (package / "__init__.py").touch()
    number = f"{int(max(_known_revisions(room), default='0')) + 1:04d}"
    database = Database.memory()
    upgrade(database, room)
    with database.engine.connect() as connection:
        config = _config(room, connection)
        command.revision(config, message=message, autogenerate=True, rev_id=number)
    database.close()


def _versions(room: str) -> Path:
    return SERVICES / PACKAGES.get(room, room) / "migrations" / "versions"


def _known_revisions(room: str) -> list[str]:
    scripts = ScriptDirectory.from_config(_config(room))
    return [script.revision for script in scripts.walk_revisions()]


def _config(room: str, connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("version_locations", str(_versions(room)))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("file_template", "v%%(rev)s_%%(slug)s")
    config.attributes.update(connection=connection, room=room, tables=room_tables(room))
    return config
