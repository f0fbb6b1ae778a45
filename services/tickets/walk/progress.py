"""Progress of a walk, for whoever watches."""

import threading
from types import TracebackType
from typing import Self

import structlog

from services.kit.errors import UnavailableError
from services.tickets.ticket.events import Note
from services.tickets.walk.walk_store import WalkStore

DELAY_S = 0.3
"""Seconds after which a stage is stored. A walk that ends sooner stores all stages with its end: a
commit for each would cost the acknowledgement of new tickets more than a watcher gains.
"""

_log = structlog.get_logger()


class WalkProgress:
    """Stages of one walk, stored a moment after they are reached, or with the walk's end.

    As a context it stores what is left when the walk breaks off.
    """

    def __init__(self, tickets: WalkStore, ticket_id: str) -> None:
        self._tickets = tickets
        self._ticket_id = ticket_id
        self._lock = threading.Lock()
        self._pending: list[Note] = []
        self._timer: threading.Timer | None = None

    def note(self, kind: str, **facts: object) -> None:
        """Record a stage; it is stored within a third of a second."""
        with self._lock:
            self._pending.append(Note(kind, facts))
            if self._timer is None:
                self._timer = threading.Timer(DELAY_S, self.store)
                self._timer.daemon = True
                self._timer.start()

    def take_pending(self) -> list[Note]:
        """Return the events not stored yet, for the transaction that ends the walk."""
        with self._lock:
            return self._drain()

    def store(self) -> None:
        """Store what is not stored yet; a database that does not answer costs a watcher a stage."""
        with self._lock:
            notes = self._drain()
            try:
                self._tickets.note(self._ticket_id, notes)
            except UnavailableError as error:
                _log.warning("gateway.progress_lost", reason=str(error))

    def _drain(self) -> list[Note]:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        notes, self._pending = self._pending, []
        return notes

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if error_type is not None:
            self.store()
