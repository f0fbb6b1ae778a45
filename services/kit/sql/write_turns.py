"""Turns of this process's writers to an SQLite file.

SQLite makes a second writer sleep and look again, for up to a tenth of a second at a time. A lock
before it wakes the next one at once. Other processes still wait in SQLite's own way.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event

WAIT_S = 10.0
"""Then SQLite itself decides: it waits once more and reports that the database is locked."""

_WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)", re.IGNORECASE)


class WriteTurns:
    """One lock per engine, held from a transaction's first change to its end."""

    def __init__(self, engine: Engine) -> None:
        """Starts to look at the statements of the engine."""
        self._lock = threading.Lock()
        self._thread = threading.local()
        event.listen(engine, "before_cursor_execute", self._before)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A transaction of this thread; when it changed something, the next one may go after it."""
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
