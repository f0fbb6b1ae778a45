"""A SQLite database that is migrated once for all the tests of a run and copied to each of them."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from sqlalchemy import inspect

from services.kit.sql.database import Database

MIGRATE = Database.migrate
"""What the product does; the tests of migrations ask for it by the fixture `really_migrated`."""


def copying(folder: Path) -> Callable[..., None]:
    """A `Database.migrate` that fills an empty SQLite database from a template in the folder."""

    def migrate(database: Database, *rooms: str) -> None:
        if not database.is_sqlite or inspect(database.engine).get_table_names():
            MIGRATE(database, *rooms)
            return
        with (
            closing(sqlite3.connect(_template(folder, rooms))) as template,
            closing(database.engine.raw_connection()) as connection,
        ):
            template.backup(connection.driver_connection)

    return migrate


def _template(folder: Path, rooms: tuple[str, ...]) -> Path:
    path = folder / f"{'-'.join(rooms)}.db"
    if not path.exists():
        # Two workers may both make it; whoever is last puts the same there.
        made = Database.memory()
        MIGRATE(made, *rooms)
        with closing(made.engine.raw_connection()) as connection:
            connection.driver_connection.execute("PRAGMA journal_mode=DELETE")
        made.engine.dispose()
        Path(made.engine.url.database).replace(path)
        made.close()
    return path
