"""Next move of a run: a pure function of the run, its events, and the time."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from services.contracts.execution import RunMode, RunOutcome
from services.execution.bindings.binding import AnswerTest, Binding, Origin, digest_of
from services.execution.engine import Emit, Wait
from services.execution.runs.events import NewEvent, QuestionKind, RunEventKind, StepVisit
from services.execution.runs.run import Run, ShownDifference
from services.execution.runs.state import (
    STOPS_LATER,
    Approval,
    Observation,
    RunState,
    SentChange,
)
from services.execution.tools.compare import Fields, all_hold
from services.execution.tools.tool import (
    BadArgumentError,
    OutputCondition,
    Tool,
    ToolEffect,
    conditions_of_tools,
    with_referenced,
)
from services.language.cues import is_escalation
from services.runbook.lowering import SOLVED_TEXT
from services.workflow.model import Step, StepKind, Transition
from services.workflow.read_only import is_read_only_step

DONE, SKIP, HAND_OVER, UNDO, GO_ON, AGAIN = (
    "done",
    "skip",
    "hand over",
    "take the changes back",
    "go on",
    "try again",
)
MADE, NOT_MADE = "it was made", "it was not made"
FILLED = "filled in"
"""Further options of people, beside the answers of a question."""

_ASKS_AGAIN = re.compile(
    r"\b(?:still|again|now|after|remains?|persists?|continues?|help|helped|worked|back)\b",
    re.IGNORECASE,
)
"""Words of a question about the state after something was done."""

NOT_AS_SHOWN = "it is not what was shown"
LOOKED_BEFORE = "; what the run has looked at before was by what it was"
"""Further words where labels or the target changed: answers were found by the earlier ones."""
NOBODY_READ = "nobody has read under which condition this is done"
"""Reason to leave a change of a checklist to a person."""
MOST_TRIES = 3
"""Most attempts at a look that fails."""
RETRY_S = 5.0
"""Seconds before the second attempt; twice as many before the third."""
RECHECK_S = 10.0
"""Seconds after which a change that waits for leave is held against the present basis again."""
CLOCK_SLACK_S = 30.0
"""Most seconds by which the clocks of two processes may differ."""
RISE_S = 30.0
"""Least seconds between two looks that show if a counter rises."""
UNDO_PREFIX = "undo:"
"""Prefix of a step's id at the place where its change is taken back."""


@dataclass(frozen=True)
class Look:
    """Move: call a tool that changes nothing."""

    place: StepVisit
    purpose: str
    tool: Tool
    target: str
    arguments: Mapping[str, str]

    @property
    def facts(self) -> dict[str, object]:
        """Facts of the events that record it."""
        return {"purpose": self.purpose, **_call_facts(self)}


@dataclass(frozen=True)
class ApplyChange:
    """Move: send a change that was approved, once."""

    place: StepVisit
    tool: Tool
    target: str
    arguments: Mapping[str, str]
    digest: str = ""

    @property
    def facts(self) -> dict[str, object]:
        """Facts of the events that record it."""
        return {"digest": self.digest, **_call_facts(self)}


def _call_facts(move: Look | ApplyChange) -> dict[str, object]:
    return {
        "tool": move.tool.name,
        "target": move.target,
        "arguments": dict(move.arguments),
        "shown": move.tool.shown(move.arguments),
    }


@dataclass(frozen=True)
class LockTarget:
    """Move: lock the target of an approved change, so that no other run changes it meanwhile."""

    change: ApplyChange


Move = Wait | Emit[NewEvent] | Look | LockTarget | ApplyChange


class StepRefusal(NamedTuple):
    """Rule by which a step is left to a person."""

    name: str
    applies: Callable[[Run, Step, RunMode], bool]
    why: Callable[[Run, Step], str]


REFUSALS = (
    StepRefusal(
        "no tool",
        lambda run, step, _: run.tool_of(step.id) is None,
        lambda run, step: run.binding_of[step.id].why if step.id in run.binding_of else "",
    ),
    StepRefusal(
        "no target",
        lambda run, step, _: step.id not in run.targets,
        lambda run, step: run.target_sources.get(
            step.id,
            f"the ticket names no known {run.tool_named[run.binding_of[step.id].tool].target}",
        ),
    ),
    StepRefusal(
        "change in a checklist",
        lambda run, step, _: run.workflow.is_checklist and run.changes(step.id),
        lambda _, __: NOBODY_READ,
    ),
    StepRefusal(
        "change in a run that only looks",
        lambda run, step, mode: mode is not RunMode.SUPERVISED and run.changes(step.id),
        lambda _, __: "this run changes nothing",
    ),
    StepRefusal(
        "change that is not approved",
        lambda run, step, _: bool(run.not_changing.get(step.id)) and run.changes(step.id),
        lambda run, step: run.not_changing[step.id],
    ),
)
"""Refusals in their order: the first that applies is the reason."""


def refusal(run: Run, step: Step, mode: RunMode) -> str | None:
    """Return why the step is left to a person in a run of that mode; None if the run acts."""
    return next((each.why(run, step) for each in REFUSALS if each.applies(run, step, mode)), None)


def next_move(run: Run, state: RunState, now: float) -> Move:
    """Return the next move of the run."""
    moves = _Moves(run, state, now)
    move = moves.next()
    return moves.without_questions(move) if run.asks_nobody else move


def approval_digest(run: Run, change: ApplyChange, number: int) -> str:
    """Return the digest of what would be sent, with its workflow, step, binding and page.

    It is that of the request of this number at its place: no approval counts for another one.
    """
    step = change.place[0].removeprefix(UNDO_PREFIX)
    return digest_of(
        run.id,
        run.workflow,
        run.binding_of.get(step),
        change.place,
        number,
        _definition(run, change.tool, change.target),
        change.target,
        dict(sorted(change.arguments.items())),
        [(each, run.pages.get(each.citation.document_id)) for each in run.passages.get(step, ())],
    )


def _definition(run: Run, tool: Tool, target: str) -> str:
    """Return the digest of what the catalogue says of a tool, those it refers to, and a target."""
    tools = with_referenced(run.tool_named, [tool.name])
    on = {condition.on or target for condition in conditions_of_tools(tools)} | {target}
    targets = {name: run.target_digests.get(name, "") for name in sorted(on)}
    return digest_of([each.digest for each in tools], targets)


@dataclass(frozen=True)
class _Moves:
    run: Run
    state: RunState
    now: float

    def next(self) -> Move:
        """Return the move of the first rule that applies, else that of the step."""
        state, limits = self.state, self.run.limits
        over_at = state.begun_at + limits.within_s
        (id_, visit), calls = state.now, sum(state.calls.values())
        step = self.run.workflow.by_id[id_]
        rules: tuple[tuple[str, object, Callable[[], Move]], ...] = (
            ("it is over", state.outcome, Wait),
            # Whoever sends it has the lease: this worker has it now.
            (
                "the executor ended while sending",
                state.changes_in_flight,
                lambda: _emit(
                    RunEventKind.UNKNOWN,
                    state.changes_in_flight[0].place,
                    {"why": "the executor ended while it was being sent"},
                ),
            ),
            ("a person ends it", state.later_end, lambda: self._end_by_person(over_at)),
            # Also of a run that nobody answers: it holds its targets.
            ("out of time", self.now > over_at, lambda: _hand_over("its time is over")),
            ("a person's turn", state.paused_by or state.question, lambda: Wait(over_at + 1)),
            (
                "too many calls",
                calls > limits.most_calls,
                lambda: _hand_over(f"it has asked tools {limits.most_calls} times"),
            ),
            ("changes are taken back", state.undoing, self._roll_back),
            ("begin", not visit, lambda: _emit(RunEventKind.ENTERED, (id_, 1))),
            (
                "goes round",
                visit > limits.most_visits,
                lambda: _hand_over(f"it goes round: {step.text!r} once more"),
            ),
        )
        for _, applies, move in rules:
            if applies:
                return move()
        match step.kind:
            case StepKind.TERMINAL:
                return self._arrive(step)
            case StepKind.DECISION:
                return self._decide(step)
            case StepKind.PROCESS:
                return self._act(step)

    def without_questions(self, move: Move) -> Move:
        """Replace a question, in a run that asks nobody: skip a step that only looks, else end.

        A step that may change something is not skipped: what is seen behind it would be of another
        time than the page means.
        """
        if not isinstance(move, Emit) or move.events[0].kind is not RunEventKind.QUESTION_RAISED:
            return move
        question = move.events[0]
        step = self.run.workflow.by_id[question.place[0].removeprefix(UNDO_PREFIX)]
        tool = self.run.tool_of(step.id)
        looks = tool.effect is ToolEffect.READ if tool else is_read_only_step(step)
        is_step = step.kind is StepKind.PROCESS and len(self.run.workflow.exits(step.id)) <= 1
        if is_step and looks and question.facts["what"] != QuestionKind.DECIDE.value:
            return self._leave(step, "skipped")
        return _hand_over(f"the rest is a person's: {step.text}")

    def _end_by_person(self, over_at: float) -> Move:
        """Return the end that a person wants; before it, ask if an unknown change was made."""
        if self.now <= over_at:
            if self.state.question:
                return Wait(over_at + 1, STOPS_LATER)
            for change in self.state.changes.values():
                is_answered = (change.place, QuestionKind.UNKNOWN) in self.state.answers
                if change.status is RunEventKind.UNKNOWN and not is_answered:
                    tool = self.run.tool_named[change.tool]
                    return self._ask_whether_made(change.place, tool, change)
        return Emit(self.state.later_end)

    # A step that acts

    def _act(self, step: Step) -> Move:  # noqa: PLR0911 - as in `next`
        place = self.state.now
        if answer := self.state.answers.get((place, QuestionKind.DO)):
            return self._after_hand(step, answer.option, place)
        if (why := refusal(self.run, step, self.run.mode)) is not None:
            return self._by_hand(step, why)
        binding, target = self.run.binding_of[step.id], self.run.targets[step.id]
        tool = self.run.tool_named[binding.tool]
        change = self.state.changes.get(place)
        arguments = dict(change.arguments) if change else self._arguments(binding)
        if missing := [name for name in tool.parameters if name not in arguments]:
            filled = self.state.answers.get((place, QuestionKind.FILL))
            if filled is not None and filled.option != FILLED:
                return self._after_hand(step, filled.option, place)
            text = f"{step.text} It needs {', '.join(missing)}."
            options = (FILLED, DONE, SKIP, HAND_OVER)
            return _ask(place, QuestionKind.FILL, text, options, fills=missing)
        try:
            tool.checked(arguments)
        except BadArgumentError as error:
            return self._by_hand(step, str(error))
        if tool.effect is ToolEffect.READ:
            looked = self._look(place, "look", tool, target, arguments)
            if looked is None:
                why = f"{target} did not tell it"
                return self._by_hand(step, why, self._why_failed(place, "look"))
            return self._leave(step, "seen") if isinstance(looked, Observation) else looked
        move = self._advance_change(step, place, tool, target, arguments)
        return move or self._leave(step, "done")

    # A change, and a change that takes one back

    def _advance_change(  # noqa: PLR0911 - as in `next`
        self, step: Step, place: StepVisit, tool: Tool, target: str, arguments: Mapping[str, str]
    ) -> Move | None:
        """Return the next move of a change; None once it is made and verified if possible."""
        change = self.state.changes.get(place)
        if change is not None:
            return self._after_sending(step, tool, change)
        approval = self.state.approvals.get(place)
        number = approval.number if approval else self.state.requests[place] + 1
        sending = ApplyChange(place, tool, target, arguments)
        sending = replace(sending, digest=approval_digest(self.run, sending, number))
        is_open = approval is not None and approval.state is RunEventKind.APPROVAL_REQUESTED
        if approval and not is_open and approval.state is not RunEventKind.APPROVED:
            more = (AGAIN,) if approval.is_by_policy else ()
            return self._by_hand(step, approval.refusal, approval.evidence, place=place, more=more)
        if move := self._check_preconditions(step, "before", sending):
            return move
        if approval is None:
            return self._request_approval(sending)
        if is_open and self.now >= approval.expires_at:
            return _emit(RunEventKind.EXPIRED, place)
        if why := self._why_void(approval) or (
            "what was looked at says otherwise" if approval.digest != sending.digest else ""
        ):
            return _renew(place, why)
        if is_open:
            return Wait(min(approval.expires_at, self.now + RECHECK_S))
        if place not in self.state.prepared:
            return LockTarget(sending)
        # Somebody took their time to approve, or another run has changed it meanwhile.
        return self._check_preconditions(step, "again", sending) or sending

    def _request_approval(self, change: ApplyChange) -> Move:
        """Return the request of an approval, with what differs from the one before, if any."""
        place, tool = change.place, change.tool
        shown = self._dry_run(place, tool, change.target, change.arguments)
        if isinstance(shown, Look | Wait):
            return shown
        step = place[0].removeprefix(UNDO_PREFIX)
        facts: dict[str, object] = {
            **change.facts,
            "expires_at": self.now + self.run.limits.approval_expires_s,
            "undo": tool.undo.tool if tool.undo else "",
            "simulated": list(shown),
            "passages": [each.model_dump() for each in self.run.passages.get(step, ())],
            "definition": _definition(self.run, tool, change.target),
        }
        if before := self.state.voided.get(place):
            pairs = {
                "what is sent": (before.shown, str(facts["shown"])),
                "taken back by": (before.undo, str(facts["undo"])),
                "its dry run": ("\n".join(before.simulated), "\n".join(shown)),
            }
            revised = self.state.revisions.get(place, {})
            differences = [
                each
                for each in (
                    *(ShownDifference(what=k, was=a, now=b) for k, (a, b) in pairs.items()),
                    *revised.values(),
                )
                if each.was != each.now
            ]
            renewal = self.state.renewals[place].facts
            by_others = renewal.get("labels") or renewal.get("targets")
            facts["why"] = renewal.get("why") or (NOT_AS_SHOWN + LOOKED_BEFORE * bool(by_others))
            facts["differences"] = [each.model_dump() for each in differences]
        return _emit(RunEventKind.APPROVAL_REQUESTED, place, facts)

    def _why_void(self, approval: Approval) -> str:
        """Return why an approval does not hold, whatever it is for; empty if it does."""
        if self.now < approval.at - CLOCK_SLACK_S:
            return "the clock was set back since"
        if approval.state is RunEventKind.APPROVED and self.now >= approval.expires_at:
            return f"{approval.by} approved it, and it was not sent in time"
        return ""

    def _why_not_sent(self, why: str, place: StepVisit) -> str:
        """Return the reason why an approved change was not sent, and whether that still holds."""
        approval = self.state.approvals.get(place)
        if approval is None or approval.state is not RunEventKind.APPROVED:
            return why
        if self._why_void(approval):
            return f"{why}; nothing was sent"
        until = datetime.fromtimestamp(approval.expires_at, UTC).strftime("%H:%M:%S UTC")
        return f"{why}; nothing was sent, and the approval of {approval.by} holds until {until}"

    def _check_preconditions(self, step: Step, when: str, change: ApplyChange) -> Move | None:
        """Return the next move of the preconditions; None if all hold.

        `when` tells the looks before the approval from those after it.
        """
        for number, condition in enumerate(change.tool.before):
            purpose = f"{when} {number}"
            if move := self._check_precondition(step, change.place, purpose, condition, change):
                return move
        return None

    def _dry_run(
        self, place: StepVisit, tool: Tool, target: str, arguments: Mapping[str, str]
    ) -> Look | Wait | tuple[str, ...]:
        """Return the lines of the tool's own dry run, or the move that gets them."""
        if tool.dry_run is None:
            return ()
        by = self.run.tool_named[tool.dry_run.tool]
        look = self._look(place, "dry run", by, target, tool.dry_run.filled(arguments))
        if look is None:
            return self._why_failed(place, "dry run")
        return look.lines if isinstance(look, Observation) else look

    def _check_precondition(
        self,
        step: Step,
        place: StepVisit,
        purpose: str,
        condition: OutputCondition,
        change: ApplyChange | SentChange,
    ) -> Move | None:
        tool = self.run.tool_named[condition.tool]
        arguments = condition.filled(change.arguments, change.target)
        seen = self._look(place, purpose, tool, condition.on or change.target, arguments)
        if seen is None:
            failed = self._why_failed(place, purpose)
            why = f"what must hold before it cannot be seen{f': {failed[-1]}' if failed else ''}"
            more = () if purpose == "only if" else (AGAIN,)
            why = self._why_not_sent(why, place)
            return self._by_hand(step, why, failed, place=place, more=more)
        if not isinstance(seen, Observation):
            return seen
        if all_hold(condition.tests, seen.fields):
            return None
        requirement = "; ".join(map(str, condition.tests))
        return self._by_hand(step, f"before it must hold: {requirement}", seen.lines, place=place)

    def _after_sending(self, step: Step, tool: Tool, change: SentChange) -> Move | None:
        place = change.place
        if change.status is RunEventKind.NOT_SENT:
            why = self._why_not_sent(change.why, place)
            return self._by_hand(step, why, place=place, more=(AGAIN,))
        if change.status is RunEventKind.UNKNOWN:
            answer = self.state.answers.get((place, QuestionKind.UNKNOWN))
            if answer is None:
                return self._ask_whether_made(place, tool, change)
            if answer.option == HAND_OVER:
                return _hand_over("a change may have been made or not")
            if answer.option == NOT_MADE:
                return self._by_hand(step, "it was not made", place=place)
        return self._verify(step, tool, change)

    def _ask_whether_made(self, place: StepVisit, tool: Tool, change: SentChange) -> Move:
        evidence: Sequence[str] = ()
        if tool.verify:
            by = self.run.tool_named[tool.verify.tool]
            arguments = tool.verify.filled(change.arguments, change.target)
            verify_target = tool.verify.on or change.target
            seen = self._look(place, "whether made", by, verify_target, arguments)
            if isinstance(seen, Look | Wait):
                return seen
            evidence = seen.lines if isinstance(seen, Observation) else ()
        shown = tool.shown(change.arguments)
        text = f"It is not known whether this was made on {change.target}: {shown}. Was it?"
        return _ask(place, QuestionKind.UNKNOWN, text, (MADE, NOT_MADE, HAND_OVER), evidence)

    def _verify(self, step: Step, tool: Tool, change: SentChange) -> Move | None:
        place, wanted = change.place, tool.verify
        verified = self.state.verified.get(place)
        if wanted is None or verified is RunEventKind.VERIFIED:
            return None
        if verified is RunEventKind.NOT_VERIFIED:
            return self._after_failure(step, change)
        by = self.run.tool_named[wanted.tool]
        arguments = wanted.filled(change.arguments, change.target)
        seen = [o for o in self.state.observations_at(place, "verify") if o.seq > change.seq]
        failed = self.state.failures.get((place, "verify"), [])
        latest = max([(o.seq, o.at) for o in seen] + [(e.seq, e.at) for e in failed], default=None)
        since = _holding_since(seen, wanted)
        if since is not None and seen[-1].at - since >= wanted.holds_s:
            return _emit(RunEventKind.VERIFIED, place, {"lines": list(seen[-1].lines)})
        if self.now > change.at + wanted.within_s + (wanted.holds_s if since else 0):
            expectation = "; ".join(map(str, wanted.tests))
            why = f"{expectation}: not within {wanted.within_s:.0f} s"
            if failed and (not seen or failed[-1].at > seen[-1].at):
                why = f"{why}; last it could not be seen: {failed[-1].facts['why']}"
            return _emit(RunEventKind.NOT_VERIFIED, place, {"why": why})
        if latest and latest[1] <= self.now < latest[1] + wanted.every_s:  # unless it was set back
            return Wait(latest[1] + wanted.every_s)
        return Look(place, "verify", by, wanted.on or change.target, arguments)

    def _after_failure(self, step: Step, change: SentChange) -> Move | None:
        answer = self.state.answers.get((change.place, QuestionKind.FAILED))
        if answer is None:
            seen = self.state.observations_at(change.place, "verify")
            text = f"It was done and does not show: {step.text} What now?"
            options = (*self._may_undo(), GO_ON, HAND_OVER)
            lines = seen[-1].lines if seen else ()
            return _ask(change.place, QuestionKind.FAILED, text, options, lines)
        if answer.option == GO_ON:
            return None
        return self._stop(answer.option, "a change did not help")

    def _roll_back(self) -> Move:
        for change in self._undoable:
            step = self.run.workflow.by_id[change.place[0]]
            tool = self.run.tool_named[change.tool]
            if tool.undo is None:
                continue
            place = (f"{UNDO_PREFIX}{step.id}", change.place[1])
            if answer := self.state.answers.get((place, QuestionKind.DO)):
                if answer.option == HAND_OVER:
                    return _hand_over("not all changes were taken back")
                if answer.option == AGAIN:
                    return self._after_hand(step, AGAIN, place)
                return _emit(RunEventKind.UNDONE, change.place, {"how": answer.option})
            other = self.run.tool_named[tool.undo.tool]
            if tool.undo.only_if and place not in self.state.changes:
                condition = tool.undo.only_if
                if move := self._check_precondition(step, place, "only if", condition, change):
                    return move
            arguments = tool.undo.filled(change.arguments)
            move = self._advance_change(step, place, other, change.target, arguments)
            return move or _emit(RunEventKind.UNDONE, change.place, {"how": "undone"})
        return _hand_over("what was changed is taken back")

    # A question

    def _decide(self, step: Step) -> Move:  # noqa: PLR0911 - as in `next`
        place, exits = self.state.now, self.run.workflow.exits(step.id)
        if decided := self.state.decided.get(place):
            edge = next(e for e in exits if e.condition == decided.facts["answer"])
            return self._go_along(edge, "decided")
        if answer := self.state.answers.get((place, QuestionKind.DECIDE)):
            if answer.option in {HAND_OVER, UNDO}:
                return self._stop(answer.option, f"nobody could tell: {step.text}")
            return self._decide_as(place, answer.option, "person", by=answer.by)
        if step.settled:
            return self._decide_as(place, step.settled, "ticket", (step.settled_by,))
        if len(exits) == 1:
            return self._decide_as(place, exits[0].condition, "page")
        ends = [self.run.workflow.by_id[edge.target] for edge in exits]
        is_last = all(end.implied and end.kind is StepKind.TERMINAL for end in ends)
        decisions = self.state.decided.values()
        is_doubted = any(
            each.facts["by"] == "person" and each.at >= self.state.last_change for each in decisions
        )
        is_implied = step.implied and step.text == SOLVED_TEXT and is_last
        if is_implied and self._is_verified and not is_doubted:
            seen = self.state.observations[-1].lines if self.state.observations else ()
            return self._decide_as(place, exits[0].condition, "verification", seen)
        binding = self.run.binding_of.get(step.id)
        target = self.run.targets.get(step.id)
        if binding is None or not binding.tool or target is None or not binding.answers:
            return self._ask_which(step, exits)
        arguments = self._arguments(binding)
        tool = self.run.tool_named[binding.tool]
        if any(name not in arguments for name in tool.parameters):
            return self._ask_which(step, exits)
        return self._decide_by_evidence(step, binding, tool, target, arguments)

    def _decide_by_evidence(
        self,
        step: Step,
        binding: Binding,
        tool: Tool,
        target: str,
        arguments: Mapping[str, str],
    ) -> Move:
        place, exits = self.state.now, self.run.workflow.exits(step.id)
        seen: Observation | Look | Wait | None = None
        is_rise = any(
            test.comparison.compares_looks for answer in binding.answers for test in answer.tests
        )
        if not is_rise and place[1] == 1:
            seen = self._reusable_observation(step, binding, (tool.name, target, arguments))
            seen = seen or self.state.latest(
                tool.name, target, arguments, after=self.state.last_change
            )
        seen = seen or self._look(place, "look", tool, target, arguments)
        if seen is None:
            return self._ask_which(step, exits, self._why_failed(place, "look"))
        if not isinstance(seen, Observation):
            return seen
        earlier = self.state.latest(seen.tool, seen.target, seen.arguments, before=seen.at - RISE_S)
        if is_rise and earlier is None:
            if self.now < seen.at + RISE_S:
                return Wait(seen.at + RISE_S)
            return Look(place, "look", tool, target, arguments)
        fields = earlier.fields if earlier else None
        answer = answer_by_fields(binding.answers, seen.fields, fields)
        why = self.run.not_deciding.get(step.id)
        if answer is None or why:
            reason = f"the look says {answer}; {why}" if answer else ""
            return self._ask_which(step, exits, seen.lines, reason)
        tested_fields = dict.fromkeys(t.field for each in binding.answers for t in each.tests)
        facts = {
            "answer": answer,
            "by": "evidence",
            "told": {name: seen.fields.get(name) for name in tested_fields},
            "tests": {
                each.condition: [str(test) for test in each.tests] for each in binding.answers
            },
            "evidence": list(seen.lines),
            "seen": seen.seq,
            "fields": list(tested_fields),
        }
        return _emit(RunEventKind.DECIDED, place, facts)

    def _reusable_observation(
        self, step: Step, binding: Binding, call: tuple[str, str, Mapping[str, str]]
    ) -> Observation | None:
        """Return the observation that decided on the same fields before something was changed.

        `If it is full, delete …. If it is not full, …`: the second half is of the same look, until
        the page looks again. A question about the state after a change needs a new look.
        """
        if _ASKS_AGAIN.search(step.text):
            return None
        wanted = {test.field for each in binding.answers for test in each.tests}
        decided = [
            e for e in self.state.decided.values() if wanted <= set(e.facts.get("fields", ()))
        ]
        by = {event.facts["seen"] for event in decided}
        seen = [
            each
            for each in self.state.observations
            if each.seq in by and (each.tool, each.target, each.arguments) == call
        ]
        if not seen:
            return None
        for each in self.state.observations:
            by_step = self.run.workflow.by_id.get(each.place[0])
            is_of_page = by_step and by_step.kind is StepKind.PROCESS and each.purpose == "look"
            is_same = (each.tool, each.target, each.arguments) == call
            if each.seq > seen[-1].seq and is_of_page and is_same:
                return None
        return seen[-1]

    def _decide_as(
        self, place: StepVisit, answer: str, who: str, evidence: Sequence[str] = (), by: str = ""
    ) -> Move:
        facts = {"answer": answer, "by": who, "evidence": list(evidence)}
        return Emit((NewEvent(RunEventKind.DECIDED, place, facts, by),))

    def _ask_which(
        self,
        step: Step,
        exits: Sequence[Transition],
        evidence: Sequence[str] = (),
        why: str = "",
    ) -> Move:
        options = (*(edge.condition for edge in exits), *self._may_undo(), HAND_OVER)
        text = f"{step.text} ({why})" if why else step.text
        if not evidence and self.state.observations:
            evidence = self.state.observations[-1].lines
        return _ask(self.state.now, QuestionKind.DECIDE, text, options, evidence)

    # People

    def _by_hand(
        self,
        step: Step,
        why: str,
        evidence: Sequence[str] = (),
        *,
        place: StepVisit | None = None,
        more: tuple[str, ...] = (),
    ) -> Move:
        at = place or self.state.now
        if answer := self.state.answers.get((at, QuestionKind.DO)):
            return self._after_hand(step, answer.option, at)
        undo = () if self.state.undoing else self._may_undo()
        options = (DONE, SKIP, *more, *undo, HAND_OVER)
        text = f"{step.text} ({why})" if why else step.text
        return _ask(at, QuestionKind.DO, text, options, evidence)

    def _after_hand(self, step: Step, option: str, place: StepVisit) -> Move:
        if option == AGAIN:
            approval = self.state.approvals.get(place)
            is_approved = approval is not None and approval.state is RunEventKind.APPROVED
            if approval and is_approved and not self._why_void(approval):
                return _renew(place, "", keeps_approval=True)
            return _renew(place, "nothing was sent")
        if option in {HAND_OVER, UNDO}:
            return self._stop(option, f"left to a person: {step.text}")
        return self._leave(step, "skipped" if option == SKIP else "by_person")

    def _stop(self, option: str, why: str) -> Move:
        if option == UNDO:
            return _emit(RunEventKind.UNDOING)
        return _hand_over(why)

    def _may_undo(self) -> tuple[str, ...]:
        return (UNDO,) if self._undoable else ()

    @cached_property
    def _undoable(self) -> list[SentChange]:
        """Changes that may be taken back, the last one first."""
        made = (RunEventKind.CHANGED, RunEventKind.UNKNOWN)
        return [
            change
            for place, change in sorted(
                self.state.changes.items(), key=lambda each: each[1].seq, reverse=True
            )
            if change.status in made
            and place not in self.state.undone
            and not place[0].startswith(UNDO_PREFIX)
            and self.run.tool_named[change.tool].undo
        ]

    # Ways on

    def _leave(self, step: Step, how: str) -> Move:
        exits = self.run.workflow.exits(step.id)
        if not exits:
            return self._arrive(step)
        if len(exits) > 1:
            answer = self.state.answers.get((self.state.now, QuestionKind.DECIDE))
            if answer is None:
                return self._ask_which(step, exits)
            if answer.option in {HAND_OVER, UNDO}:
                return self._stop(answer.option, f"nobody could tell: {step.text}")
            return self._go_along(next(e for e in exits if e.condition == answer.option), how)
        return self._go_along(exits[0], how)

    def _go_along(self, edge: Transition, how: str) -> Move:
        left = NewEvent(RunEventKind.LEFT, self.state.now, {"to": edge.target, "how": how})
        entered = NewEvent(RunEventKind.ENTERED, (edge.target, self.state.visits[edge.target] + 1))
        return Emit((left, entered))

    def _arrive(self, step: Step) -> Move:
        if step.kind is StepKind.TERMINAL and is_escalation(step.text):
            return _hand_over(step.text)
        return _end(RunOutcome.RECOVERED if self._is_verified else RunOutcome.DONE, step.text)

    @property
    def _is_verified(self) -> bool:
        """True if something was changed, and each change was seen to have worked."""
        confirmed = {
            place
            for (place, what), answer in self.state.answers.items()
            if what is QuestionKind.UNKNOWN and answer.option == MADE
        }
        made = [
            change
            for place, change in self.state.changes.items()
            if change.status is RunEventKind.CHANGED or place in confirmed
        ]
        return bool(made) and all(
            self.state.verified.get(change.place) is RunEventKind.VERIFIED for change in made
        )

    # Looks

    def _look(
        self, place: StepVisit, purpose: str, tool: Tool, target: str, arguments: Mapping[str, str]
    ) -> Observation | Look | Wait | None:
        """Return the observation, or the move that gets it; None after too many failed attempts."""
        seen = self.state.observations_at(place, purpose)
        if seen:
            return seen[-1]
        failed = self.state.failures.get((place, purpose), [])
        is_final = bool(failed) and bool(failed[-1].facts.get("is_final"))
        if len(failed) >= MOST_TRIES or is_final or self.state.calls[tool.name] >= tool.most_calls:
            return None
        if failed and self.now < (again := failed[-1].at + RETRY_S * len(failed)):
            return Wait(again)
        return Look(place, purpose, tool, target, arguments)

    def _why_failed(self, place: StepVisit, purpose: str) -> tuple[str, ...]:
        return tuple(str(e.facts["why"]) for e in self.state.failures.get((place, purpose), []))

    def _arguments(self, binding: Binding) -> dict[str, str]:
        """Return the arguments that are known; a person's take precedence."""
        values: dict[str, str] = {}
        for name, argument in binding.arguments.items():
            match argument.origin:
                case Origin.LITERAL:
                    value: str | None = argument.value
                case Origin.LABEL:
                    value = self.run.ticket.labels.get(argument.value)
                case Origin.FIELD:
                    value = self.state.latest_field(argument.value)
                case Origin.PERSON:
                    value = None
            if value:
                values[name] = value
        filled = self.state.answers.get((self.state.now, QuestionKind.FILL))
        return values | dict(filled.arguments) if filled else values


def answer_by_fields(
    answers: Sequence[AnswerTest], fields: Fields, earlier: Fields | None = None
) -> str | None:
    """Return the answer that the fields decide; None if they decide none, or more than one."""
    results = [
        (each.condition, all_hold(each.tests, fields, earlier)) for each in answers if each.tests
    ]
    holding = [condition for condition, holds in results if holds]
    if len(holding) == 1:
        return holding[0]
    default = [each.condition for each in answers if not each.tests]
    if not holding and len(default) == 1 and all(holds is False for _, holds in results):
        return default[0]
    return None


def _holding_since(seen: Sequence[Observation], wanted: OutputCondition) -> float | None:
    """Return since when the condition holds, at the last looks; None if it does not.

    What did not rise from one look to the next has held since the first of the two.
    """
    since, before = None, None
    for each in seen:
        if all_hold(wanted.tests, each.fields, before.fields if before else None):
            is_rise = all(test.comparison.compares_looks for test in wanted.tests)
            begun = before if before and is_rise else each
            since = begun.at if since is None else since
        else:
            since = None
        before = each
    return since


def _ask(
    place: StepVisit,
    what: QuestionKind,
    text: str,
    options: Sequence[str],
    evidence: Sequence[str] = (),
    **facts: object,
) -> Emit[NewEvent]:
    question = {
        "what": what.value,
        "text": text,
        "options": list(options),
        "evidence": list(evidence),
        **facts,
    }
    return _emit(RunEventKind.QUESTION_RAISED, place, question)


def _emit(
    kind: RunEventKind, place: StepVisit = ("", 0), facts: Mapping[str, object] | None = None
) -> Emit[NewEvent]:
    return Emit((NewEvent(kind, place, facts or {}),))


def _renew(place: StepVisit, why: str, *, keeps_approval: bool = False) -> Emit[NewEvent]:
    return _emit(RunEventKind.RENEWED, place, {"keeps_approval": keeps_approval, "why": why})


def _end(outcome: RunOutcome, why: str) -> Emit[NewEvent]:
    return _emit(RunEventKind.ENDED, facts={"outcome": outcome.value, "why": why})


def _hand_over(why: str) -> Emit[NewEvent]:
    return _end(RunOutcome.HANDED_OVER, why)
