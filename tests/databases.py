"""A SQLite database that is migrated once for all the tests of a run and copied to each of them."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

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
