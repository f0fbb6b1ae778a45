"""Drives runs: what follows is written down, tools are asked, changes are sent once."""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

import structlog

from services.executor.adapters.port import Adapters, NotSentError, StoppedError, UnknownEffectError
from services.executor.calling import Calling
from services.executor.runs.events import Kind
from services.executor.runs.moves import (
    UNDO_PREFIX,
    Do,
    Look,
    NewEvent,
    Rest,
    Take,
    Write,
    next_move,
)
from services.executor.runs.store import (
    LostRunError,
    RunMovedError,
    RunStore,
    StoredRun,
    TargetTakenError,
)
from services.executor.tools.catalogue import BadCatalogueError, Catalogue
from services.executor.tools.outputs import Told
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


class RunEngine:
    """Carries runs on, on events in SQL, driven by the outbox."""

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
        self._calling = Calling(catalogue, adapters)
        self._clock = clock
        self._is_approved = is_approved

    def advance(self, run_id: str) -> None:
        """Carry it on until it waits or ends; called again, it goes on from its events."""
        driver = str(uuid4())
        if not self._store.driving.drive(run_id, driver, HELD_FOR_S):
            self._store.driving.come_again(run_id, AGAIN_S)
            return
        try:
            while self._goes_on(run_id, driver):
                pass
        except LostRunError:
            _log.warning("executor.run_lost", run=run_id)
        finally:  # whatever went wrong, the task that is tried again finds it free
            self._store.driving.leave(run_id, driver)

    def _goes_on(self, run_id: str, driver: str) -> bool:
        """One move; False where the run waits."""
        stored = self._store.load(run_id)
        if stored.state.outcome is None and (suspension := self._store.suspension()):
            told = f"all runs stand still, by {suspension.by}"
            self._store.driving.rest(run_id, driver, until=None, why=told, after_s=0)
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
                case Take():
                    return self._take(stored, move.change, driver)
                case Do():
                    self._do(stored, move, driver)
        except RunMovedError:
            return True
        return True

    def _rest(self, stored: StoredRun, driver: str, until: float | None, why: str) -> None:
        after = self._clock.real(until - self._clock.now()) if until is not None else 0.0
        self._store.driving.rest(stored.run.id, driver, until=until, why=why, after_s=after)

    def _look(self, stored: StoredRun, move: Look, driver: str) -> None:
        facts = move.facts
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

    def _take(self, stored: StoredRun, move: Do, driver: str) -> bool:
        """Take the target of a change; False where another run has it."""
        now = self._clock.now()
        if why := self._denies(stored, move, now):
            self._deny(stored, move, why, driver)
            return True
        try:
            prepared = NewEvent(Kind.PREPARED, move.place, move.facts)
            self._store.prepare(stored, prepared, move.digest, now, driver=driver)
        except TargetTakenError as error:
            self._rest(stored, driver, now + TAKEN_S, str(error))
            return False
        return True

    def _do(self, stored: StoredRun, move: Do, driver: str) -> None:
        """Send a change, if all that guards it still holds."""
        if why := self._denies(stored, move, self._clock.now()):
            self._deny(stored, move, why, driver)
            return
        facts = move.facts
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

    def _deny(self, stored: StoredRun, move: Do, why: str, driver: str) -> None:
        denied = NewEvent(Kind.DENIED, move.place, {"why": why}, by="the policy")
        self._store.append(stored, [denied], self._clock.now(), driver=driver)

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
        self._store.driving.drive(stored.run.id, driver, HELD_FOR_S + move.tool.timeout_s)
        return self._calling.call(move.tool, move.target, move.arguments)


def _may_pass(error: Exception) -> bool:
    """Whether a look that failed so may come about later."""
    return not isinstance(error, StoppedError | BadArgumentError)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, FlowXpertError) else type(error).__name__
