"""Engine of runs: it logs what follows, calls tools, and sends each change once."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from services.contracts.execution import RunOutcome, RunPhase, Suspended
from services.execution.adapters.port import (
    Adapters,
    BeforeSending,
    NotSeenError,
    NotSentError,
    StoppedError,
    UnknownEffectError,
    send_at_once,
)
from services.execution.engine import LEASE_S, Emit, EventEngine, Wait
from services.execution.runs.events import NewEvent, RunEventKind, StepVisit
from services.execution.runs.moves import (
    UNDO_PREFIX,
    ApplyChange,
    LockTarget,
    Look,
    Move,
    next_move,
)
from services.execution.runs.revisions import WITHDRAWN, Revisions
from services.execution.runs.run import Run
from services.execution.runs.store import (
    LostRunError,
    RunMovedError,
    RunStore,
    StoredRun,
    TargetTakenError,
)
from services.execution.tool_caller import ToolCaller
from services.execution.tools.catalogue import BadCatalogueError, Catalogue
from services.execution.tools.outputs import ParsedOutput
from services.execution.tools.target import Target
from services.execution.tools.tool import BadArgumentError, Tool
from services.kit.clock import Clock
from services.kit.errors import FlowXpertError
from services.workflow.model import Step, Workflow

HOUR_S = 3600.0
LOCK_RETRY_S = 15.0
"""Seconds before a target that another run has locked, or a ticket that cannot be read, is tried
again.
"""

POLICY = "the policy"
"""Name of whoever refuses what catalogue or page do not allow."""

_log = structlog.get_logger()


class RunEngine(EventEngine[StoredRun, Look | LockTarget | ApplyChange]):
    """Engine of runs."""

    def __init__(
        self,
        store: RunStore,
        catalogue: Callable[[], Catalogue],
        adapters: Adapters,
        clock: Clock,
        *,
        revisions: Revisions,
        is_approved: Callable[[Workflow, Step], bool],
    ) -> None:
        """Wire the engine.

        `revisions` finds what has changed since a change was shown. `is_approved` tells whether a
        step is still in a procedure of its page that is approved as a workflow.
        """
        super().__init__(store, clock, store.suspension)
        self._store = store
        self._catalogue = catalogue
        self._calling = ToolCaller(catalogue, adapters)
        self._revisions = revisions
        self._is_approved = is_approved

    def advance(self, run_id: str) -> None:
        """Carry the run on until it waits or ends; see `EventEngine.carry_on`."""
        self.carry_on(run_id)

    def _next_move(self, stored: StoredRun, suspension: Suspended | None, now: float) -> Move:
        move = next_move(stored.run, stored.state, now)
        ends = stored.state.later_end and isinstance(move, Emit)
        if suspension and not ends:
            return Wait(None, f"all runs stand still, by {suspension.by}")
        place = _place_of_unsent_change(stored, move)
        if place is None:
            return move
        try:
            revision = self._revisions.find(stored.run, place)
        except FlowXpertError as error:
            return Wait(now + LOCK_RETRY_S, f"the ticket cannot be read: {error}")
        if revision is not None:
            return Emit((revision,))
        return self._check_request(stored, move.events[0], now) if isinstance(move, Emit) else move

    def _check_request(self, stored: StoredRun, request: NewEvent, now: float) -> Emit[NewEvent]:
        """Return the request of an approval with its warnings, or the refusal of the page."""
        if why := self._why_not_of_page(stored, request.place):
            differences = stored.state.revisions.get(request.place, {}).values()
            lines = [f"{each.what}: {each.was} → {each.now}" for each in differences]
            facts = {"why": why, "evidence": lines}
            return Emit((NewEvent(RunEventKind.DENIED, request.place, facts, by=POLICY),))
        warnings = list(self._warnings(stored, request, now))
        return Emit((replace(request, facts={**request.facts, "warnings": warnings}),))

    def _warnings(self, stored: StoredRun, request: NewEvent, now: float) -> Iterator[str]:
        """Yield what speaks against a change that an approval is requested for."""
        if since := stored.run.ticket.resolved:
            yield f"the ticket is resolved since {since}"
        with suppress(BadCatalogueError, KeyError):  # what it does not have is refused elsewhere
            catalogue = self._catalogue()
            tool = catalogue.by_name[str(request.facts["tool"])]
            target = catalogue.targets_by_name[str(request.facts["target"])]
            if why := self._reason_by_policy(stored, request.place, catalogue, (tool, target), now):
                yield f"as things are it will not be sent: {why}"

    def _carry_out(
        self, stored: StoredRun, move: Look | LockTarget | ApplyChange, driver: str
    ) -> bool:
        match move:
            case Look():
                return self._look(stored, move, driver)
            case LockTarget():
                return self._lock_target(stored, move.change, driver)
            case ApplyChange():
                self._apply_change(stored, move, driver)
        return True

    def _look(self, stored: StoredRun, move: Look, driver: str) -> bool:
        """Look; return False if it has to wait for others, which a run by itself does."""
        run = stored.run
        if run.asks_nobody and (
            reached := self._take_look(
                stored, driver, run.ticket.id, move.target, self._calling.read_policy
            )
        ):
            if reached.until is not None:
                return False
            outcome = RunOutcome.HANDED_OVER.value
            end = {"outcome": outcome, "why": reached.why, "is_capped": True}
            self._store.append(
                stored, [NewEvent(RunEventKind.ENDED, facts=end)], self._clock.now(), driver=driver
            )
            return True
        facts = move.facts
        try:
            self._check_vouched(run, move)
            output = self._call(stored, move, driver)
        except (NotSeenError, NotSentError, UnknownEffectError, BadArgumentError) as error:
            facts |= {
                "why": str(error),
                "is_final": isinstance(error, StoppedError | BadArgumentError),
            }
            event = NewEvent(RunEventKind.NOT_OBSERVED, move.place, facts)
        else:
            lines = {"lines": list(output.lines), "is_cut": output.is_cut}
            facts |= {"fields": dict(output.fields), **lines}
            event = NewEvent(RunEventKind.OBSERVED, move.place, facts)
        self._store.record(stored, event, self._clock.now())
        return True

    def _check_vouched(self, run: Run, look: Look) -> None:
        """Check that somebody still vouches for how a step looks, where somebody did.

        Raises:
            StoppedError: The binding was withdrawn since the run began.
        """
        binding, key = run.binding_of.get(look.place[0]), run.binding_keys.get(look.place[0])
        is_of_step = binding is not None and binding.tool == look.tool.name
        if is_of_step and key and not self._revisions.approved([key]):
            raise StoppedError(WITHDRAWN)

    def _lock_target(self, stored: StoredRun, move: ApplyChange, driver: str) -> bool:
        """Lock the target of a change; return False if another run has it."""
        now = self._clock.now()
        if why := self._reason_to_deny(stored, move, now):
            self._deny(stored, move, why, driver)
            return True
        try:
            prepared = NewEvent(RunEventKind.PREPARED, move.place, move.facts)
            self._store.prepare(stored, prepared, move.digest, now, driver=driver)
        except TargetTakenError as error:
            self._wait(stored, driver, Wait(now + LOCK_RETRY_S, str(error)))
            return False
        return True

    def _apply_change(self, stored: StoredRun, move: ApplyChange, driver: str) -> None:
        """Send a change, if all that guards it still holds.

        It is recorded as being sent once the target is reached, before its first byte leaves: a run
        that is killed before that is carried on by the same approval.
        """
        if why := self._reason_to_deny(stored, move, self._clock.now()):
            self._deny(stored, move, why, driver)
            return
        facts, is_sending = move.facts, False

        def record_sending() -> None:
            nonlocal is_sending
            if not is_sending:
                sent = NewEvent(RunEventKind.SENT, move.place, facts)
                self._store.send(stored, sent, move.digest, self._clock.now(), driver=driver)
                is_sending = True

        try:
            output = self._call(stored, move, driver, record_sending)
        except (RunMovedError, LostRunError):  # somebody stopped it before it was sent
            raise
        except (NotSentError, BadArgumentError) as error:
            event = NewEvent(RunEventKind.NOT_SENT, move.place, {**facts, "why": str(error)})
        except Exception as error:  # noqa: BLE001 - whatever it was, it may have been sent
            is_expected = isinstance(error, FlowXpertError)
            _log.error(
                "executor.change_unknown",
                run=stored.run.id,
                tool=move.tool.name,
                exc_info=not is_expected,
            )
            why = str(error) if is_expected else type(error).__name__
            event = NewEvent(RunEventKind.UNKNOWN, move.place, {**facts, "why": why})
        else:
            lines = {"purpose": "do", "fields": dict(output.fields), "lines": list(output.lines)}
            event = NewEvent(RunEventKind.CHANGED, move.place, {**facts, **lines})
        record_sending()  # before what says that it was kept from being sent
        self._store.record(stored, event, self._clock.now())

    def _deny(self, stored: StoredRun, move: ApplyChange, why: str, driver: str) -> None:
        denied = NewEvent(RunEventKind.DENIED, move.place, {"why": why}, by=POLICY)
        self._store.append(stored, [denied], self._clock.now(), driver=driver)

    def _reason_to_deny(self, stored: StoredRun, move: ApplyChange, now: float) -> str:
        """Return why the change may not be sent after all, by the current catalogue; else empty."""
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
        if why := self._why_not_of_page(stored, move.place):
            return why
        return self._reason_by_policy(stored, move.place, catalogue, (tool, target), now)

    def _reason_by_policy(
        self,
        stored: StoredRun,
        place: StepVisit,
        catalogue: Catalogue,
        change: tuple[Tool, Target],
        now: float,
    ) -> str:
        """Return why the policy denies a change now; empty if it does not."""
        tool, target = change
        step = stored.run.workflow.by_id[place[0].removeprefix(UNDO_PREFIX)]
        documents = frozenset(citation.document_id for citation in step.citations)
        lately = self._store.changes_since(target.name, now - HOUR_S)
        at = datetime.fromtimestamp(now, UTC)
        return catalogue.policy.reason_to_deny_change(
            tool, target, documents, at, lately, is_by_hand=stored.run.is_by_hand
        )

    def _why_not_of_page(self, stored: StoredRun, place: StepVisit) -> str:
        """Return why no page tells this change, as far as it needs one; empty if one does."""
        step = stored.run.workflow.by_id[place[0].removeprefix(UNDO_PREFIX)]
        is_undo = place[0].startswith(UNDO_PREFIX)  # what takes it back is the tool's own
        of_page = not is_undo and not stored.run.is_by_hand
        if of_page and not self._is_approved(stored.run.workflow, step):
            return "the page, or what was approved of it, has changed since the run began"
        return ""

    def _call(
        self,
        stored: StoredRun,
        move: Look | ApplyChange,
        driver: str,
        before_sending: BeforeSending = send_at_once,
    ) -> ParsedOutput:
        self._store.leases.acquire(stored.run.id, driver, LEASE_S + move.tool.timeout_s)
        return self._calling.call(
            move.tool, move.target, move.arguments, before_sending=before_sending
        )


def _place_of_unsent_change(stored: StoredRun, move: Move) -> StepVisit | None:
    """Return the place of a change that the move requests, waits with, locks or sends."""
    approval = stored.state.open_approval
    match move:
        case Emit() if move.events[0].kind is RunEventKind.APPROVAL_REQUESTED:
            return move.events[0].place
        case Wait() if approval is not None and stored.state.phase is RunPhase.APPROVING:
            return approval.place
        case LockTarget():
            return move.change.place
        case ApplyChange():
            return move.place
        case _:
            return None
