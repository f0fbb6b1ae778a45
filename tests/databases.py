"""What tests' SQLite databases share: migrations, run once and copied, and compiled statements."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

from services.kit.sql.database import Database

MIGRATE = Database.migrate
"""What the product does; the tests of migrations ask for it by the fixture `really_migrated`."""


def copying(folder: Path) -> Callable[..., None]:
    """A `Database.migrate` that gives a SQLite database without a file the one made before."""

    def migrate(database: Database, *rooms: str) -> None:
        path = Path(database.engine.url.database or "")
        if database.is_sqlite and not path.exists():
            shutil.copyfile(_template(folder, rooms), path)
        else:
            MIGRATE(database, *rooms)

    return migrate


def sharing_statements() -> Callable[..., None]:
    """A `Database.__init__` by which a statement is compiled once, not once a database."""
    open_alone = Database.__init__
    shared = create_engine("sqlite://")
    shared.connect().close()  # by which a dialect learns the server's version
    compiled: dict[Any, Any] = {}

    def open_together(database: Database, url: str, **options: str) -> None:
        open_alone(database, url, **options)
        if database.is_sqlite:
            database.engine.dialect = shared.dialect
            database.engine.update_execution_options(compiled_cache=compiled)

    return open_together


def _template(folder: Path, rooms: tuple[str, ...]) -> Path:
    path = folder / f"{'-'.join(rooms)}.db"
    if not path.exists():
        made = Database.memory()
        MIGRATE(made, *rooms)
        made.engine.dispose()
        with closing(sqlite3.connect(made.engine.url.database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        # Two workers may both make it; whoever is last puts the same there.
        Path(made.engine.url.database).replace(path)
        made.close()
    return path
