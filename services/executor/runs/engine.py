"""Drives runs: what follows is written down, tools are asked, changes are sent once."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol
from uuid import uuid4

import structlog

from services.executor import metrics
from services.executor.adapters.port import Adapters, NotSentError, StoppedError, UnknownEffectError
from services.executor.runs.events import Kind
from services.executor.runs.moves import UNDO_PREFIX, Do, Look, NewEvent, Rest, Write, next_move
from services.executor.runs.store import (
    LostRunError,
    RunMovedError,
    RunStore,
    StoredRun,
    TargetTakenError,
)
from services.executor.tools.catalogue import BadCatalogueError, Catalogue
from services.executor.tools.outputs import Told, read_output
from services.executor.tools.tool import BadArgumentError
from services.kit.clock import Clock
from services.kit.errors import FlowXpertError
from services.workflow.model import Step, Workflow

HELD_FOR_S = 30.0
"""How long a worker counts as driving a run, beside the time that the tool may take."""
AGAIN_S = 2.0
"""After which a worker looks again at a run that another one drives."""
HOUR_S = 3600.0
TAKEN_S = 15.0
"""After which a target is tried again that another run has."""

_log = structlog.get_logger()


class RunEngine(Protocol):
    """What carries runs on."""

    def advance(self, run_id: str) -> None:
        """Carry it on until it waits or ends; called again, it goes on from its events."""


class SqlRunEngine:
    """Implements `RunEngine` on events in SQL, driven by the outbox."""

    def __init__(
        self,
        store: RunStore,
        catalogue: Callable[[], Catalogue],
        adapters: Adapters,
        clock: Clock,
        *,
        is_approved: Callable[[Workflow, Step], bool],
    ) -> None:
        """`is_approved`: whether a step still stands in an approved procedure of its page."""
        self._store = store
        self._catalogue = catalogue
        self._adapters = adapters
        self._clock = clock
        self._is_approved = is_approved

    def advance(self, run_id: str) -> None:
        """See `RunEngine.advance`."""
        driver = str(uuid4())
        if not self._store.drive(run_id, driver, HELD_FOR_S):
            self._store.come_again(run_id, AGAIN_S)
            return
        try:
            while self._goes_on(run_id, driver):
                pass
        except LostRunError:
            _log.warning("executor.run_lost", run=run_id)
        finally:  # whatever went wrong, the task that is tried again finds it free
            self._store.leave(run_id, driver)

    def _goes_on(self, run_id: str, driver: str) -> bool:
        """One move; False where the run waits."""
        stored = self._store.load(run_id)
        if stored.state.outcome is None and (suspension := self._store.suspension()):
            told = f"all runs stand still, by {suspension.by}"
            self._store.rest(run_id, driver, until=None, why=told, after_s=0)
            return False
        move = next_move(stored.run, stored.state, self._clock.now())
        try:
            match move:
                case Rest():
                    self._rest(stored, driver, move.until, "")
                    return False
                case Write():
                    self._store.append(stored, move.events, self._clock.now(), driver=driver)
                case Look():
                    self._look(stored, move, driver)
                case Do():
                    return self._do(stored, move, driver)
        except RunMovedError:
            return True
        return True

    def _rest(self, stored: StoredRun, driver: str, until: float | None, why: str) -> None:
        after = self._clock.real(until - self._clock.now()) if until is not None else 0.0
        self._store.rest(stored.run.id, driver, until=until, why=why, after_s=after)

    def _look(self, stored: StoredRun, move: Look, driver: str) -> None:
        facts: dict[str, object] = {
            "purpose": move.purpose,
            "tool": move.tool.name,
            "target": move.target,
            "arguments": dict(move.arguments),
            "shown": move.tool.shown(move.arguments),
        }
        try:
            told = self._call(stored, move, driver)
        except (NotSentError, UnknownEffectError, BadArgumentError) as error:
            facts |= {"why": str(error), "is_final": not _may_pass(error)}
            self._store.record(
                stored.run, NewEvent(Kind.NOT_OBSERVED, move.place, facts), self._clock.now()
            )
            return
        facts |= {"fields": dict(told.fields), "lines": list(told.lines), "is_cut": told.is_cut}
        event = NewEvent(Kind.OBSERVED, move.place, facts)
        self._store.record(stored.run, event, self._clock.now())

    def _do(self, stored: StoredRun, move: Do, driver: str) -> bool:
        """Send a change, if all that guards it still holds."""
        now = self._clock.now()
        if why := self._denies(stored, move, now):
            denied = NewEvent(Kind.DENIED, move.place, {"why": why}, by="the policy")
            self._store.append(stored, [denied], now, driver=driver)
            return True
        facts = {
            "digest": move.digest,
            "tool": move.tool.name,
            "target": move.target,
            "arguments": dict(move.arguments),
            "shown": move.tool.shown(move.arguments),
        }
        try:
            prepared = NewEvent(Kind.PREPARED, move.place, facts)
            self._store.prepare(stored, prepared, move.digest, now, driver=driver)
        except TargetTakenError as error:
            self._rest(stored, driver, now + TAKEN_S, str(error))
            return False
        stored = self._store.load(stored.run.id)
        sent = NewEvent(Kind.SENT, move.place, facts)
        self._store.send(stored, sent, move.digest, self._clock.now(), driver=driver)
        try:
            told = self._call(stored, move, driver)
        except (NotSentError, BadArgumentError) as error:
            event = NewEvent(Kind.NOT_SENT, move.place, {**facts, "why": str(error)})
        except Exception as error:  # noqa: BLE001 - whatever it was, it may have been sent
            _log.exception("executor.change_unknown", run=stored.run.id, tool=move.tool.name)
            event = NewEvent(Kind.UNKNOWN, move.place, {**facts, "why": _said(error)})
        else:
            lines = {"purpose": "do", "fields": dict(told.fields), "lines": list(told.lines)}
            event = NewEvent(Kind.CHANGED, move.place, {**facts, **lines})
        self._store.record(stored.run, event, self._clock.now())
        return True

    def _denies(self, stored: StoredRun, move: Do, now: float) -> str:
        """Why the change may not be sent after all; the catalogue of today decides."""
        try:
            catalogue = self._catalogue()
        except BadCatalogueError as error:
            return f"the catalogue cannot be read: {error}"
        tool = catalogue.by_name.get(move.tool.name)
        target = catalogue.targets_by_name.get(move.target)
        if tool is None or target is None or tool.digest != move.tool.digest:
            return "the catalogue has changed since the run began"
        if target.digest != stored.run.target_digests.get(target.name):
            return "the target is defined otherwise than when the run began"
        if not stored.state.approvals[move.place].by_person and not target.is_simulated:
            return "nobody who signed in has approved it, and the device is real"
        step = stored.run.workflow.by_id[move.place[0].removeprefix(UNDO_PREFIX)]
        is_undo = move.place[0].startswith(UNDO_PREFIX)  # what takes it back is the tool's own
        of_page = not is_undo and not stored.run.is_by_hand
        if of_page and not self._is_approved(stored.run.workflow, step):
            return "the page, or what was approved of it, has changed since the run began"
        documents = frozenset(citation.document_id for citation in step.citations)
        lately = self._store.changes_since(move.target, now - HOUR_S)
        at = datetime.fromtimestamp(now, UTC)
        return catalogue.policy.denies_change(
            tool, target, documents, at, lately, is_by_hand=stored.run.is_by_hand
        )

    def _call(self, stored: StoredRun, move: Look | Do, driver: str) -> Told:
        try:
            catalogue = self._catalogue()
        except BadCatalogueError as error:
            raise StoppedError(f"the catalogue cannot be read: {error}") from error
        target = catalogue.targets_by_name.get(move.target)
        if target is None:
            raise StoppedError(f"the catalogue has no target {move.target!r} any more")
        if why := catalogue.policy.denies(move.tool, target):
            raise StoppedError(why)
        arguments = move.tool.checked(move.arguments)
        self._store.drive(stored.run.id, driver, HELD_FOR_S + move.tool.timeout_s)
        effect, outcome, begun = move.tool.effect.value, "unknown", time.monotonic()
        try:
            raw = self._adapters[move.tool.way.by].call(move.tool, target, arguments)
            outcome = "answered"
        except NotSentError:
            outcome = "not_sent"
            raise
        finally:
            metrics.CALLS.labels(effect, outcome).inc()
            metrics.CALL_SECONDS.labels(effect).observe(time.monotonic() - begun)
        return read_output(move.tool, raw, target.platform)


def _may_pass(error: Exception) -> bool:
    """Whether a look that failed so may come about later."""
    return not isinstance(error, StoppedError | BadArgumentError)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, FlowXpertError) else type(error).__name__
