"""What a run does next: a pure function of the run, what has happened, and the time."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from services.contracts.execution import RunMode, RunOutcome
from services.executor.bindings.binding import AnswerTest, Binding, Origin, digest_of
from services.executor.runs.events import Asking, Kind
from services.executor.runs.run import Run
from services.executor.runs.state import Change, Observation, Place, RunState
from services.executor.tools.compare import Fields, all_hold
from services.executor.tools.tool import BadArgumentError, Condition, Effect, Tool
from services.language.cues import escalates
from services.workflow.looking import only_looks
from services.workflow.model import Step, StepKind, Transition

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
"""What people may answer beside the answers of a question."""

_ANEW = re.compile(
    r"\b(?:still|again|now|after|remains?|persists?|continues?|help|helped|worked|back)\b",
    re.IGNORECASE,
)
"""What a question says that asks how it is after something was done."""

MOST_TRIES = 3
"""How often a look is tried that did not come about."""
RETRY_S = 5.0
"""Seconds before it is tried again; twice as many before the third time."""
RISE_S = 30.0
"""Least seconds between two looks that tell whether something rises."""
UNDO_PREFIX = "undo:"
"""Before the id of a step where its change is taken back."""


@dataclass(frozen=True)
class NewEvent:
    """An event that is to be added."""

    kind: Kind
    place: Place = ("", 0)
    facts: Mapping[str, object] = field(default_factory=dict)
    by: str = ""


@dataclass(frozen=True)
class Rest:
    """Nothing is to be done before that time, or before somebody does something."""

    until: float | None = None


@dataclass(frozen=True)
class Write:
    """Events follow from what is known."""

    events: tuple[NewEvent, ...]


@dataclass(frozen=True)
class Look:
    """A tool that changes nothing is asked."""

    place: Place
    purpose: str
    tool: Tool
    target: str
    arguments: Mapping[str, str]

    @property
    def facts(self) -> dict[str, object]:
        """Of the events that tell of it."""
        return {"purpose": self.purpose, **_call(self)}


@dataclass(frozen=True)
class Do:
    """A change that somebody has approved is sent, once."""

    place: Place
    tool: Tool
    target: str
    arguments: Mapping[str, str]
    digest: str

    @property
    def facts(self) -> dict[str, object]:
        """Of the events that tell of it."""
        return {"digest": self.digest, **_call(self)}


def _call(move: Look | Do) -> dict[str, object]:
    return {
        "tool": move.tool.name,
        "target": move.target,
        "arguments": dict(move.arguments),
        "shown": move.tool.shown(move.arguments),
    }


@dataclass(frozen=True)
class Take:
    """The target of an approved change is taken, so that no other run changes it meanwhile."""

    change: Do


Move = Rest | Write | Look | Take | Do


def next_move(run: Run, state: RunState, now: float) -> Move:
    """What is to be done now."""
    moves = _Moves(run, state, now)
    move = moves.next()
    return moves.without_people(move) if run.asks_nobody else move


def approval_digest(
    run: Run, place: Place, tool: Tool, target: str, arguments: Mapping[str, str]
) -> str:
    """Names exactly what would be sent, of which workflow, step and binding; see `Approval`."""
    binding = run.binding_of.get(place[0].removeprefix(UNDO_PREFIX))
    return digest_of(
        run.id,
        run.workflow,
        binding,
        place,
        tool.digest,
        target,
        run.target_digests.get(target, ""),
        dict(sorted(arguments.items())),
    )


@dataclass(frozen=True)
class _Moves:
    run: Run
    state: RunState
    now: float

    def next(self) -> Move:  # noqa: C901, PLR0911 - what comes first wins
        state, limits = self.state, self.run.limits
        if state.outcome:
            return Rest()
        over_at = state.begun_at + limits.within_s
        if self.now > over_at:  # also of a run that nobody answers: it holds its targets
            return _end(RunOutcome.HANDED_OVER, "its time is over")
        if state.paused_by or state.question:
            return Rest(over_at + 1)
        if sum(state.calls.values()) > limits.most_calls:
            return _end(RunOutcome.HANDED_OVER, f"it has asked tools {limits.most_calls} times")
        if state.undoing:
            return self._take_back()
        step = self.run.workflow.by_id[state.now[0]]
        if not state.now[1]:
            return Write((NewEvent(Kind.ENTERED, (step.id, 1)),))
        if state.now[1] > limits.most_visits:
            return _end(RunOutcome.HANDED_OVER, f"it goes round: {step.text!r} once more")
        match step.kind:
            case StepKind.TERMINAL:
                return self._arrive(step)
            case StepKind.DECISION:
                return self._decide(step)
            case StepKind.PROCESS:
                return self._act(step)

    def without_people(self, move: Move) -> Move:
        """Of a run that asks nobody: it passes over what only finds out, and ends at all else.

        A step that may change something is not passed over: what is seen behind it would be of
        another time than the page means.
        """
        if not isinstance(move, Write) or move.events[0].kind is not Kind.ASKED:
            return move
        asked = move.events[0]
        step = self.run.workflow.by_id[asked.place[0].removeprefix(UNDO_PREFIX)]
        binding = self.run.binding_of.get(step.id)
        tool = self.run.tool_named[binding.tool] if binding and binding.tool else None
        looks = tool.effect is Effect.READ if tool else only_looks(step)
        is_step = step.kind is StepKind.PROCESS and len(self.run.workflow.exits(step.id)) <= 1
        if is_step and looks and asked.facts["what"] != Asking.DECIDE.value:
            return self._leave(step, "skipped")
        return _end(RunOutcome.HANDED_OVER, f"the rest is a person's: {step.text}")

    # A step that acts

    def _act(self, step: Step) -> Move:  # noqa: PLR0911 - as in `next`
        place, binding = self.state.now, self.run.binding_of.get(step.id)
        if answer := self.state.answers.get((place, Asking.DO)):
            return self._after_hand(step, answer.option)
        if binding is None or not binding.tool:
            return self._by_hand(step, binding.why if binding else "")
        tool = self.run.tool_named[binding.tool]
        target = self.run.targets.get(step.id)
        if target is None:
            return self._by_hand(step, f"the ticket names no known {tool.target}")
        if tool.effect is Effect.CHANGE and (why := self._why_not(step)):
            return self._by_hand(step, why)
        change = self.state.changes.get(place)
        arguments = dict(change.arguments) if change else self._arguments(binding)
        if missing := [name for name in tool.parameters if name not in arguments]:
            return self._fill(step, missing)
        try:
            tool.checked(arguments)
        except BadArgumentError as error:
            return self._by_hand(step, str(error))
        if tool.effect is Effect.READ:
            looked = self._look(place, "look", tool, target, arguments)
            if looked is None:
                return self._by_hand(
                    step, f"{target} did not tell it", self._why_failed(place, "look")
                )
            return self._leave(step, "seen") if isinstance(looked, Observation) else looked
        return self._change(step, place, tool, target, arguments) or self._leave(step, "done")

    def _why_not(self, step: Step) -> str:
        if self.run.workflow.is_checklist:
            return "nobody has read under which condition this is done"
        if self.run.mode is not RunMode.SUPERVISED:
            return "this run changes nothing"
        return self.run.not_changing.get(step.id, "")

    # A change, and a change that takes one back

    def _change(  # noqa: C901, PLR0911 - as in `next`
        self, step: Step, place: Place, tool: Tool, target: str, arguments: Mapping[str, str]
    ) -> Move | None:
        """None once it is made, and verified as far as that can be."""
        change = self.state.changes.get(place)
        if change is not None:
            return self._after_sending(step, tool, change)
        digest = approval_digest(self.run, place, tool, target, arguments)
        sending = Do(place, tool, target, arguments, digest)
        if move := self._preconditions(step, "before", sending):
            return move
        approval = self.state.approvals.get(place)
        if approval is None:
            shown = self._simulated(place, tool, target, arguments)
            if isinstance(shown, Look | Rest):
                return shown
            return self._ask_approval(sending, shown)
        if approval.state is Kind.APPROVAL_ASKED:
            if self.now >= approval.expires_at:
                return Write((NewEvent(Kind.EXPIRED, place),))
            return Rest(approval.expires_at)
        if approval.state is Kind.APPROVED and self.now >= approval.expires_at:
            return Write((NewEvent(Kind.EXPIRED, place),))  # it was paused, or waited for long
        if approval.state is Kind.APPROVED:
            if approval.digest != digest:
                return Write(
                    (NewEvent(Kind.DENIED, place, {"why": "it is not what was approved"}),)
                )
            if place not in self.state.prepared:
                return Take(sending)
            # Somebody took their time to approve, or another run has changed it meanwhile.
            return self._preconditions(step, "again", sending) or sending
        return self._by_hand(step, approval.refused, place=place)

    def _preconditions(self, step: Step, when: str, change: Do) -> Move | None:
        """None where all holds; `when` tells the looks before the approval from those after it."""
        for number, condition in enumerate(change.tool.before):
            move = self._precondition(
                step,
                change.place,
                f"{when} {number}",
                condition,
                arguments=change.arguments,
                target=change.target,
            )
            if move:
                return move
        return None

    def _simulated(
        self, place: Place, tool: Tool, target: str, arguments: Mapping[str, str]
    ) -> Look | Rest | tuple[str, ...]:
        """What the tool's own dry run tells of it."""
        if tool.dry_run is None:
            return ()
        by = self.run.tool_named[tool.dry_run.tool]
        told = self._look(place, "dry run", by, target, tool.dry_run.filled(arguments))
        if told is None:
            return self._why_failed(place, "dry run")
        return told.lines if isinstance(told, Observation) else told

    def _ask_approval(self, change: Do, simulated: Sequence[str]) -> Move:
        undo = change.tool.undo
        facts = {
            **change.facts,
            "expires_at": self.now + self.run.limits.approval_expires_s,
            "undo": undo.tool if undo else "",
            "simulated": list(simulated),
        }
        return Write((NewEvent(Kind.APPROVAL_ASKED, change.place, facts),))

    def _precondition(
        self,
        step: Step,
        place: Place,
        purpose: str,
        condition: Condition,
        *,
        arguments: Mapping[str, str],
        target: str,
    ) -> Move | None:
        tool = self.run.tool_named[condition.tool]
        asked = condition.filled(arguments, target)
        seen = self._look(place, purpose, tool, condition.on or target, asked)
        if seen is None:
            return self._by_hand(step, "what must hold before it cannot be seen", place=place)
        if not isinstance(seen, Observation):
            return seen
        if all_hold(condition.tests, seen.fields):
            return None
        told = "; ".join(map(str, condition.tests))
        return self._by_hand(step, f"before it must hold: {told}", seen.lines, place=place)

    def _after_sending(self, step: Step, tool: Tool, change: Change) -> Move | None:
        place = change.place
        if change.came is Kind.SENT:
            why = "the executor ended while it was being sent"
            return Write((NewEvent(Kind.UNKNOWN, place, {"why": why}),))
        if change.came is Kind.NOT_SENT:
            return self._by_hand(step, "nothing was sent", place=place, more=(AGAIN,))
        if change.came is Kind.UNKNOWN:
            answer = self.state.answers.get((place, Asking.UNKNOWN))
            if answer is None:
                return self._ask_whether_made(place, tool, change)
            if answer.option == HAND_OVER:
                return _end(RunOutcome.HANDED_OVER, "a change may have been made or not")
            if answer.option == NOT_MADE:
                return self._by_hand(step, "it was not made", place=place)
        return self._verify(step, tool, change)

    def _ask_whether_made(self, place: Place, tool: Tool, change: Change) -> Move:
        evidence: Sequence[str] = ()
        if tool.verify:
            by = self.run.tool_named[tool.verify.tool]
            arguments = tool.verify.filled(change.arguments, change.target)
            asked = tool.verify.on or change.target
            seen = self._look(place, "whether made", by, asked, arguments)
            if isinstance(seen, Look | Rest):
                return seen
            evidence = seen.lines if isinstance(seen, Observation) else ()
        shown = tool.shown(change.arguments)
        text = f"It is not known whether this was made on {change.target}: {shown}. Was it?"
        return _ask(place, Asking.UNKNOWN, text, (MADE, NOT_MADE, HAND_OVER), evidence)

    def _verify(self, step: Step, tool: Tool, change: Change) -> Move | None:
        place, wanted = change.place, tool.verify
        verified = self.state.verified.get(place)
        if wanted is None or verified is Kind.VERIFIED:
            return None
        if verified is Kind.NOT_VERIFIED:
            return self._after_failure(step, change)
        by = self.run.tool_named[wanted.tool]
        arguments = wanted.filled(change.arguments, change.target)
        seen = [o for o in self.state.seen(place, "verify") if o.at >= change.at]
        failed = self.state.failures.get((place, "verify"), [])
        latest = max([o.at for o in seen] + [e.at for e in failed], default=change.at)
        since = _held_since(seen, wanted)
        if since is not None and seen[-1].at - since >= wanted.holds_s:
            return Write((NewEvent(Kind.VERIFIED, place, {"lines": list(seen[-1].lines)}),))
        if self.now > change.at + wanted.within_s + (wanted.holds_s if since else 0):
            told = "; ".join(map(str, wanted.tests))
            facts = {"why": f"{told}: not within {wanted.within_s:.0f} s"}
            return Write((NewEvent(Kind.NOT_VERIFIED, place, facts),))
        if (seen or failed) and self.now < latest + wanted.every_s:
            return Rest(latest + wanted.every_s)
        return Look(place, "verify", by, wanted.on or change.target, arguments)

    def _after_failure(self, step: Step, change: Change) -> Move | None:
        answer = self.state.answers.get((change.place, Asking.FAILED))
        if answer is None:
            seen = self.state.seen(change.place, "verify")
            text = f"It was done and does not show: {step.text} What now?"
            options = (*self._may_undo(), GO_ON, HAND_OVER)
            lines = seen[-1].lines if seen else ()
            return _ask(change.place, Asking.FAILED, text, options, lines)
        return (
            None if answer.option == GO_ON else self._stop(answer.option, "a change did not help")
        )

    def _take_back(self) -> Move:
        for change in self._undoable:
            step = self.run.workflow.by_id[change.place[0]]
            tool = self.run.tool_named[change.tool]
            if tool.undo is None:
                continue
            place = (f"{UNDO_PREFIX}{step.id}", change.place[1])
            if answer := self.state.answers.get((place, Asking.DO)):
                if answer.option == HAND_OVER:
                    return _end(RunOutcome.HANDED_OVER, "not all changes were taken back")
                return Write((NewEvent(Kind.UNDONE, change.place, {"how": answer.option}),))
            other = self.run.tool_named[tool.undo.tool]
            if tool.undo.only_if and place not in self.state.changes:
                condition = tool.undo.only_if
                move = self._precondition(
                    step,
                    place,
                    "only if",
                    condition,
                    arguments=change.arguments,
                    target=change.target,
                )
                if move:
                    return move
            arguments = tool.undo.filled(change.arguments)
            move = self._change(step, place, other, change.target, arguments)
            return move or Write((NewEvent(Kind.UNDONE, change.place, {"how": "undone"}),))
        return _end(RunOutcome.HANDED_OVER, "what was changed is taken back")

    # A question

    def _decide(self, step: Step) -> Move:  # noqa: PLR0911 - as in `next`
        place, exits = self.state.now, self.run.workflow.exits(step.id)
        if decided := self.state.decided.get(place):
            edge = next(e for e in exits if e.condition == decided.facts["answer"])
            return self._go(edge, "decided")
        if answer := self.state.answers.get((place, Asking.DECIDE)):
            if answer.option in {HAND_OVER, UNDO}:
                return self._stop(answer.option, f"nobody could tell: {step.text}")
            return self._decided(place, answer.option, "person", by=answer.by)
        if step.settled:
            return self._decided(place, step.settled, "ticket", (step.settled_by,))
        if len(exits) == 1:
            return self._decided(place, exits[0].condition, "page")
        binding = self.run.binding_of.get(step.id)
        target = self.run.targets.get(step.id)
        if binding is None or not binding.tool or target is None or not binding.answers:
            return self._ask_which(step, exits)
        arguments = self._arguments(binding)
        tool = self.run.tool_named[binding.tool]
        if any(name not in arguments for name in tool.parameters):
            return self._ask_which(step, exits)
        return self._by_evidence(step, binding, tool, target, arguments)

    def _by_evidence(
        self,
        step: Step,
        binding: Binding,
        tool: Tool,
        target: str,
        arguments: Mapping[str, str],
    ) -> Move:
        place, exits = self.state.now, self.run.workflow.exits(step.id)
        seen: Observation | Look | Rest | None = None
        is_rise = any(
            test.comparison.is_of_change for answer in binding.answers for test in answer.tests
        )
        if not is_rise and place[1] == 1:
            seen = self._asked_before(step, binding, (tool.name, target, arguments))
            seen = seen or self.state.latest(
                tool.name, target, arguments, after=self.state.last_change
            )
        seen = seen or self._look(place, "look", tool, target, arguments)
        if seen is None:
            return self._ask_which(step, exits, self._why_failed(place, "look"))
        if not isinstance(seen, Observation):
            return seen
        earlier = self._earlier(seen)
        if is_rise and earlier is None:
            if self.now < seen.at + RISE_S:
                return Rest(seen.at + RISE_S)
            return Look(place, "look", tool, target, arguments)
        fields = earlier.fields if earlier else None
        answer, why = (
            told_by(binding.answers, seen.fields, fields),
            self.run.not_deciding.get(step.id),
        )
        if answer is None or why:
            told = f"the look says {answer}; {why}" if answer else ""
            return self._ask_which(step, exits, seen.lines, told)
        fields_asked = dict.fromkeys(t.field for each in binding.answers for t in each.tests)
        facts = {
            "answer": answer,
            "by": "evidence",
            "told": {name: seen.fields.get(name) for name in fields_asked},
            "tests": {
                each.condition: [str(test) for test in each.tests] for each in binding.answers
            },
            "evidence": list(seen.lines),
            "seen": seen.seq,
            "fields": list(fields_asked),
        }
        return Write((NewEvent(Kind.DECIDED, place, facts),))

    def _asked_before(
        self, step: Step, binding: Binding, call: tuple[str, str, Mapping[str, str]]
    ) -> Observation | None:
        """The look by which the same was decided before something was changed.

        `If it is full, delete …. If it is not full, …`: the second half is of the same look, until
        the page looks again. What asks how it is now is looked at anew.
        """
        if _ANEW.search(step.text):
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
        later = (each for each in self.state.observations if each.seq > seen[-1].seq)
        return None if any(self._is_look_of_page(each, call) for each in later) else seen[-1]

    def _is_look_of_page(self, seen: Observation, call: tuple[str, str, Mapping[str, str]]) -> bool:
        """Whether a step of the page says to look there."""
        step = self.run.workflow.by_id.get(seen.place[0])
        is_step = step is not None and step.kind is StepKind.PROCESS and seen.purpose == "look"
        return is_step and (seen.tool, seen.target, seen.arguments) == call

    def _earlier(self, seen: Observation) -> Observation | None:
        """The same look, long enough before."""
        for each in reversed(self.state.observations):
            same = (each.tool, each.target, each.arguments)
            if same == (seen.tool, seen.target, seen.arguments) and each.at <= seen.at - RISE_S:
                return each
        return None

    def _decided(
        self, place: Place, answer: str, who: str, evidence: Sequence[str] = (), by: str = ""
    ) -> Move:
        facts = {"answer": answer, "by": who, "evidence": list(evidence)}
        return Write((NewEvent(Kind.DECIDED, place, facts, by),))

    def _ask_which(
        self,
        step: Step,
        exits: Sequence[Transition],
        evidence: Sequence[str] = (),
        why: str = "",
    ) -> Move:
        options = (*(edge.condition for edge in exits), *self._may_undo(), HAND_OVER)
        text = f"{step.text} ({why})" if why else step.text
        return _ask(self.state.now, Asking.DECIDE, text, options, evidence or self._last_lines)

    # People

    def _by_hand(
        self,
        step: Step,
        why: str,
        evidence: Sequence[str] = (),
        *,
        place: Place | None = None,
        more: tuple[str, ...] = (),
    ) -> Move:
        at = place or self.state.now
        if answer := self.state.answers.get((at, Asking.DO)):
            return self._after_hand(step, answer.option)
        undo = () if self.state.undoing else self._may_undo()
        options = (DONE, SKIP, *more, *undo, HAND_OVER)
        text = f"{step.text} ({why})" if why else step.text
        return _ask(at, Asking.DO, text, options, evidence)

    def _after_hand(self, step: Step, option: str) -> Move:
        if option == AGAIN:
            again = (step.id, self.state.visits[step.id] + 1)
            return Write((NewEvent(Kind.ENTERED, again),))
        if option in {HAND_OVER, UNDO}:
            return self._stop(option, f"left to a person: {step.text}")
        return self._leave(step, "skipped" if option == SKIP else "by_person")

    def _fill(self, step: Step, missing: Sequence[str]) -> Move:
        answer = self.state.answers.get((self.state.now, Asking.FILL))
        if answer is not None and answer.option != FILLED:
            return self._after_hand(step, answer.option)
        text = f"{step.text} It needs {', '.join(missing)}."
        options = (FILLED, DONE, SKIP, HAND_OVER)
        return _ask(self.state.now, Asking.FILL, text, options, (), fills=list(missing))

    def _stop(self, option: str, why: str) -> Move:
        if option == UNDO:
            return Write((NewEvent(Kind.UNDOING),))
        return _end(RunOutcome.HANDED_OVER, why)

    def _may_undo(self) -> tuple[str, ...]:
        return (UNDO,) if self._undoable else ()

    @cached_property
    def _undoable(self) -> list[Change]:
        """Changes that may be taken back, the last one first."""
        made = (Kind.CHANGED, Kind.UNKNOWN)
        return [
            change
            for place, change in sorted(
                self.state.changes.items(), key=lambda each: each[1].seq, reverse=True
            )
            if change.came in made
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
            answer = self.state.answers.get((self.state.now, Asking.DECIDE))
            if answer is None:
                return self._ask_which(step, exits)
            if answer.option in {HAND_OVER, UNDO}:
                return self._stop(answer.option, f"nobody could tell: {step.text}")
            return self._go(next(e for e in exits if e.condition == answer.option), how)
        return self._go(exits[0], how)

    def _go(self, edge: Transition, how: str) -> Move:
        left = NewEvent(Kind.LEFT, self.state.now, {"to": edge.target, "how": how})
        entered = NewEvent(Kind.ENTERED, (edge.target, self.state.visits[edge.target] + 1))
        return Write((left, entered))

    def _arrive(self, step: Step) -> Move:
        made = [c for c in self.state.changes.values() if self._is_made(c)]
        if step.kind is StepKind.TERMINAL and escalates(step.text):
            return _end(RunOutcome.HANDED_OVER, step.text)
        unsure = [c for c in made if self.state.verified.get(c.place) is not Kind.VERIFIED]
        if made and not unsure:
            return _end(RunOutcome.RECOVERED, step.text)
        return _end(RunOutcome.DONE, step.text)

    def _is_made(self, change: Change) -> bool:
        said = self.state.answers.get((change.place, Asking.UNKNOWN))
        return change.came is Kind.CHANGED or (said is not None and said.option == MADE)

    # Looks

    def _look(
        self, place: Place, purpose: str, tool: Tool, target: str, arguments: Mapping[str, str]
    ) -> Observation | Look | Rest | None:
        """What was seen, or how to see it; None where it was tried often enough."""
        seen = self.state.seen(place, purpose)
        if seen:
            return seen[-1]
        failed = self.state.failures.get((place, purpose), [])
        is_final = bool(failed) and bool(failed[-1].facts.get("is_final"))
        if len(failed) >= MOST_TRIES or is_final or self.state.calls[tool.name] >= tool.most_calls:
            return None
        if failed and self.now < (again := failed[-1].at + RETRY_S * len(failed)):
            return Rest(again)
        return Look(place, purpose, tool, target, arguments)

    def _why_failed(self, place: Place, purpose: str) -> tuple[str, ...]:
        return tuple(str(e.facts["why"]) for e in self.state.failures.get((place, purpose), []))

    def _arguments(self, binding: Binding) -> dict[str, str]:
        """Those that are known; a person's stand above all others."""
        found: dict[str, str] = {}
        for name, argument in binding.arguments.items():
            match argument.origin:
                case Origin.GIVEN:
                    value: str | None = argument.value
                case Origin.LABEL:
                    value = self.run.ticket.labels.get(argument.value)
                case Origin.FIELD:
                    value = self.state.told(argument.value)
                case Origin.PERSON:
                    value = None
            if value:
                found[name] = value
        filled = self.state.answers.get((self.state.now, Asking.FILL))
        return found | dict(filled.arguments) if filled else found

    @property
    def _last_lines(self) -> tuple[str, ...]:
        return self.state.observations[-1].lines if self.state.observations else ()


def told_by(
    answers: Sequence[AnswerTest], fields: Fields, earlier: Fields | None = None
) -> str | None:
    """The answer that the fields tell; None where none, or more than one, is told."""
    told = [
        (each.condition, all_hold(each.tests, fields, earlier)) for each in answers if each.tests
    ]
    holding = [condition for condition, holds in told if holds]
    if len(holding) == 1:
        return holding[0]
    rest = [each.condition for each in answers if not each.tests]
    if not holding and len(rest) == 1 and all(holds is False for _, holds in told):
        return rest[0]
    return None


def _held_since(seen: Sequence[Observation], wanted: Condition) -> float | None:
    """Since when what is wanted holds, at the last looks; None where it does not.

    What did not rise from one look to the next has held since the first of the two.
    """
    since, before = None, None
    for each in seen:
        if all_hold(wanted.tests, each.fields, before.fields if before else None):
            begun = before if before and _is_of_change(wanted) else each
            since = begun.at if since is None else since
        else:
            since = None
        before = each
    return since


def _is_of_change(wanted: Condition) -> bool:
    return all(test.comparison.is_of_change for test in wanted.tests)


def _ask(
    place: Place,
    what: Asking,
    text: str,
    options: Sequence[str],
    evidence: Sequence[str] = (),
    **facts: object,
) -> Write:
    told = {
        "what": what.value,
        "text": text,
        "options": list(options),
        "evidence": list(evidence),
        **facts,
    }
    return Write((NewEvent(Kind.ASKED, place, told),))


def _end(outcome: RunOutcome, why: str) -> Write:
    return Write((NewEvent(Kind.ENDED, facts={"outcome": outcome.value, "why": why}),))
