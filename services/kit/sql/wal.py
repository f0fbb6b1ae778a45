"""Switch of a SQLite database to write-ahead logging."""

import sqlite3
import time

_ATTEMPTS = 20
_PAUSE_S = 0.05


def switch_to_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, waiting for others that do so at once.

    The switch does not honour the busy timeout when several processes open a fresh file.

    Raises:
        sqlite3.OperationalError: The file stays locked for some ten seconds.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if attempt == _ATTEMPTS:
                raise
            time.sleep(_PAUSE_S * attempt)
        else:
            return
