"""Engine of runs and searches: one worker at a time makes move after move, until it waits."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import uuid4

import structlog

from services.contracts.execution import Suspended
from services.execution.event_store import AppendableEvent, EventStore, StoredT
from services.execution.look_cap import CapReached
from services.execution.tools.policy import ReadPolicy
from services.kit.clock import Clock

LEASE_S = 30.0
"""Seconds of a worker's lease, beside the time that a tool or the model may take."""
BUSY_RETRY_S = 2.0
"""Seconds before a worker looks again at what another one drives."""

_log = structlog.get_logger()

NewT_co = TypeVar("NewT_co", bound=AppendableEvent, covariant=True)
ActT = TypeVar("ActT")


@dataclass(frozen=True)
class Wait:
    """Move: wait until that time, or until a person acts."""

    until: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Emit(Generic[NewT_co]):
    """Move: add events that follow from the state."""

    events: tuple[NewT_co, ...]


class EventEngine(ABC, Generic[StoredT, ActT]):
    """Engine that carries work on from its events in SQL, driven by the outbox.

    A subclass names the next move of its state, and carries out what is neither wait nor event.
    """

    def __init__(
        self,
        store: EventStore[Any, Any, StoredT, Any],
        clock: Clock,
        suspension: Callable[[], Suspended | None],
    ) -> None:
        """Wire the engine; `suspension` is that of all runs."""
        self._events = store
        self._clock = clock
        self._suspension = suspension

    def carry_on(self, id_: str) -> None:
        """Carry it on until it waits or ends; a repeated call goes on from its events."""
        driver, leases, kind = str(uuid4()), self._events.leases, self._events.kind
        if not leases.acquire(id_, driver, LEASE_S):
            if self._events.exists(id_):  # else its ticket was purged
                leases.retry_later(id_, BUSY_RETRY_S)
            return
        try:
            while self._step_once(id_, driver):
                pass
        except (kind.lost, self._events.unknown):
            _log.warning(kind.lost_event, **{kind.noun: id_})
        finally:  # whatever went wrong, the task that is tried again finds it free
            leases.release(id_, driver)

    def _step_once(self, id_: str, driver: str) -> bool:
        """Make one move; return False if it waits, or gives others their turn."""
        stored, now = self._events.load(id_), self._clock.now()
        suspension = self._suspension() if stored.state.outcome is None else None
        move = self._next_move(stored, suspension, now)
        if isinstance(move, Wait):
            self._wait(stored, driver, move)
            return False
        try:
            if isinstance(move, Emit):
                self._events.append(stored, move.events, now, driver=driver)
                return True
            return self._carry_out(stored, move, driver)
        except self._events.kind.moved:
            return True

    def _take_look(
        self, stored: StoredT, driver: str, ticket_id: str, target: str, policy: ReadPolicy
    ) -> CapReached | None:
        """Count a look that nobody asked for; over its cap, wait if time helps, and return why."""
        reached = self._events.look_cap.take(ticket_id, target, policy, self._clock.now())
        if reached and reached.until is not None:
            self._wait(stored, driver, Wait(reached.until, reached.why))
        return reached

    def _wait(self, stored: StoredT, driver: str, move: Wait) -> None:
        until = move.until
        after = self._clock.real_seconds(until - self._clock.now()) if until is not None else 0.0
        why = move.why or (stored.waits_for if stored.state.outcome else "")
        self._events.leases.wait(stored.id, driver, until=until, why=why, after_s=after)

    @abstractmethod
    def _next_move(
        self, stored: StoredT, suspension: Suspended | None, now: float
    ) -> Wait | Emit[Any] | ActT:
        """Return the next move, a wait while all runs stand still.

        See `next_move` of the run or the search.
        """

    @abstractmethod
    def _carry_out(self, stored: StoredT, move: ActT, driver: str) -> bool:
        """Carry a move out; return False to give others their turn.

        Raises:
            ConflictError: Something happened meanwhile; see `LeaseKind.moved`.
        """
