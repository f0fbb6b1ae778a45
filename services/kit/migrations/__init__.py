"""Alembic for every room: `services/<room>/migrations/versions`, version table `alembic_<room>`.

A room's tables are those defined in its `tables.py`. After changing them, write the migration with
`python -m services.kit.migrations ROOM "What changes"`, run `ruff format`, read what it wrote.
"""

import importlib
from importlib.util import find_spec
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Table
from sqlalchemy.exc import OperationalError

from services.kit.errors import FlowXpertError
from services.kit.sql.database import Base, Database, DatabaseUnavailableError

SERVICES = Path(__file__).parents[2]
ROOMS = tuple(sorted(path.parent.name for path in SERVICES.glob("*/tables.py")))
"""The rooms that have tables; no table of one refers to another's."""

_ADVISORY_LOCK = 0x666C6F77
"""PostgreSQL lock under which processes migrate one after the other; any fixed number does."""


def room_tables(room: str) -> list[Table]:
    """The tables that the room's `tables.py` defines."""
    module = f"services.{room}.tables"
    if find_spec(module) is None:
        return []
    importlib.import_module(module)
    return [
        mapper.local_table
        for mapper in Base.registry.mappers
        if mapper.class_.__module__ == module and isinstance(mapper.local_table, Table)
    ]


class UnknownRevisionError(FlowXpertError):
    """The tables are of a revision that this code does not know: of newer code."""


def upgrade(database: Database, room: str, revision: str = "head") -> None:
    """Bring the room's tables to a revision, in one transaction.

    Raises:
        UnknownRevisionError: This code does not know it.
        DatabaseUnavailableError: No connection, or locked for too long.
    """
    if not (SERVICES / room / "migrations" / "versions").is_dir():
        return
    try:
        with database.engine.connect() as connection:
            connection.detach()  # it is closed in the end, not given to others
            _begin_alone(database, connection)
            command.upgrade(_config(room, connection), revision)
            connection.commit()
    except CommandError as error:
        raise UnknownRevisionError(f"{room}: {error}") from error
    except OperationalError as error:
        raise DatabaseUnavailableError(f"the database did not migrate: {error}") from error


def new_revision(room: str, message: str) -> None:
    """Write a migration from the room's newest revision to its tables as they are now."""
    versions = SERVICES / room / "migrations" / "versions"
    versions.mkdir(parents=True, exist_ok=True)
    for package in (versions, versions.parent):
        (package / "__init__.py").touch()
    number = f"{len(list(versions.glob('v*.py'))) + 1:04d}"
    database = Database.memory()
    upgrade(database, room)
    with database.engine.connect() as connection:
        config = _config(room, connection)
        command.revision(config, message=message, autogenerate=True, rev_id=number)
    database.close()


def _begin_alone(database: Database, connection: Connection) -> None:
    """Open a transaction that no other migrating process can share."""
    if database.is_sqlite:
        # A column is changed by making the table anew, and dropping the old one would take along
        # every row that refers to it.
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")


def _config(room: str, connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("version_locations", str(SERVICES / room / "migrations" / "versions"))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("file_template", "v%%(rev)s_%%(slug)s")
    config.attributes.update(connection=connection, room=room, tables=room_tables(room))
    return config
