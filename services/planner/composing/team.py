"""The team: a supervisor plans and looks, an orchestrator puts components in order, a filler fills.

Each is one prompt. What code can check is checked by code and told to them: names that no catalogue
has, values that nobody said, steps that no path leads to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from services.contracts.composing import ComposeAnswer, ComposedCall, ComposeQuestion, Composition
from services.kit.errors import FlowXpertError
from services.knowledge.screening.instructions import instruction_in
from services.llm.chat_model import (
    BudgetExceededError,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
)
from services.llm.prompts import load_prompt
from services.planner.composing.asking import Asking
from services.planner.composing.catalogue.component import Component, Components, Effect
from services.planner.composing.catalogue.filtering import Ranked
from services.planner.composing.drafting import draft
from services.planner.composing.filling import Given, given_again
from services.planner.composing.plan import Plan, plan_given, shown
from services.planner.composing.words.secrets import without_secrets
from services.procedure.model import Procedure

SUPERVISOR = load_prompt("services.planner", "compose_supervisor")
ORCHESTRATOR = load_prompt("services.planner", "compose_orchestrator")
FILLER = load_prompt("services.planner", "compose_filler")

SENT_BACK = 2
"""Times that the supervisor may send a member's result back."""
FAILURES: tuple[type[FlowXpertError], ...] = (
    ModelAnswerError,
    ModelUnavailableError,
    ModelRefusedError,
    BudgetExceededError,
)
_NOTHING = "(none)"
_MOST_TOLD = 20
_LONGEST = 400
SUPERVISORS = "supervisor"
"""The id of the supervisor's own question."""


class Next(StrEnum):
    """Whose turn it is."""

    ORCHESTRATOR = "orchestrator"
    FILLER = "filler"
    USER = "user"
    DONE = "done"


@dataclass(frozen=True)
class Turn:
    """What the supervisor decided."""

    next: Next
    reason: str = ""
    question: str = ""


@dataclass
class Task:
    """What is asked of the team."""

    said: Sequence[str]
    answers: Sequence[ComposeAnswer]
    components: Components
    ranked: Sequence[Ranked]
    composed_by: str
    before: Composition | None = None
    """The draft that is to be changed."""


@dataclass
class Team:
    """Composes one task; without a supervisor each works once."""

    asking: Asking
    task: Task
    has_supervisor: bool = True
    notes: list[str] = field(default_factory=list)
    _title: str = ""
    _procedure: Procedure | None = None
    _calls: tuple[ComposedCall, ...] = ()
    _given: Given = field(default_factory=dict)
    _questions: list[ComposeQuestion] = field(default_factory=list)
    _is_filled: bool = False

    def compose(self) -> Composition | None:
        """The draft; None where not even a plan came of it, which the notes tell.

        What fails after there is a plan leaves it as it is.
        """
        before = self.task.before
        if before is not None:
            self._title, self._procedure = before.title, before.procedure
            self._calls, self._given = before.calls, given_again(before.calls)
        try:
            self._work()
        except FAILURES as error:
            self.notes.append(f"the model did not finish: {error}"[:_LONGEST])
        if not self._questions and (self._procedure is None or self._is_unchanged()):
            return None
        return self._draft()

    def _is_unchanged(self) -> bool:
        before = self.task.before
        return before is not None and self._calls is before.calls and not self._is_filled

    def _work(self) -> None:
        turn = (
            self._supervised(Next.ORCHESTRATOR) if self.has_supervisor else Turn(Next.ORCHESTRATOR)
        )
        if self._procedure is None and turn.next in {Next.FILLER, Next.DONE}:
            turn = Turn(Next.ORCHESTRATOR, turn.reason)
        done: dict[Next, int] = {Next.ORCHESTRATOR: 0, Next.FILLER: 0}
        while turn.next in done:
            done[turn.next] += 1
            if turn.next is Next.ORCHESTRATOR:
                self._orchestrated(turn.reason)
            else:
                self._filled(turn.reason)
            turn = self._following(turn.next, done)
        if turn.next is Next.USER:
            self._ask(turn.question or turn.reason)

    def _following(self, last: Next, done: Mapping[Next, int]) -> Turn:
        """Who works next: the supervisor says; a member is sent back so often and no more."""
        onward = Next.FILLER if last is Next.ORCHESTRATOR else Next.DONE
        if onward is Next.FILLER and not any(call.component for call in self._calls):
            onward = Next.DONE
        if not self.has_supervisor:
            return Turn(onward)
        turn = self._supervised(onward)
        if turn.next in done and done[turn.next] > SENT_BACK:
            self.notes.append(f"not mended after {SENT_BACK} times: {turn.reason}"[:_LONGEST])
            return Turn(Next.DONE if last is Next.FILLER or done[Next.FILLER] else onward)
        if turn.next is Next.DONE and onward is Next.FILLER:
            return Turn(Next.FILLER)
        return turn

    def _supervised(self, otherwise: Next) -> Turn:
        """The supervisor's decision; where it gives none that can be read, work goes on."""
        try:
            return self.asking.ask(
                SUPERVISOR, {"instruction": self._instruction(), "state": self._state()}, turn_given
            )
        except ModelAnswerError:
            return Turn(otherwise)

    def _orchestrated(self, reason: str) -> None:
        components, is_last = self.task.components, [self.asking.corrections + 1]

        def read(action: Mapping[str, Any]) -> Plan:
            is_last[0] -= 1
            plan = plan_given(action, components)
            if (unknown := plan.unknown(components)) and is_last[0]:
                raise ModelAnswerError(told_unknown(unknown))
            return plan

        before = shown(self._procedure, self._calls) if self._procedure else _NOTHING
        plan = self.asking.ask(
            ORCHESTRATOR,
            {
                "instruction": self._instruction(),
                "components": told_components([each.component for each in self.task.ranked]),
                "before": before,
                "reason": reason or _NOTHING,
            },
            read,
        )
        self.notes += [f"refused: {told_unknown([name])}" for name in plan.unknown(components)]
        self._take(plan)

    def _take(self, plan: Plan) -> None:
        """The new plan; a step that calls what it called before keeps its values."""
        kept = {(call.does, call.component): self._given.get(call.step) for call in self._calls}
        self._title = without_secrets(plan.title) or self._title
        self._procedure = plan.procedure
        self._calls = tuple(map(self._with_twins, plan.calls(self.task.components)))
        self._given = {
            call.step: values
            for call in self._calls
            if (values := kept.get((call.does, call.component)))
        }

    def _with_twins(self, call: ComposedCall) -> ComposedCall:
        """Where other components are told in the same words, somebody chooses."""
        twins = self.task.components.twins(call.component, "\n".join(self.task.said))
        if len(twins) < 2:
            return call
        return call.model_copy(update={"component": "", "options": twins})

    def _filled(self, reason: str) -> None:
        assert self._procedure is not None  # noqa: S101 - the orchestrator was there before
        used = {name for call in self._calls for name in (call.component, *call.options) if name}
        self._given = self.asking.ask(
            FILLER,
            {
                "instruction": self._instruction(),
                "steps": shown(self._procedure, self._draft().calls),
                "components": told_templates(
                    [c for name in sorted(used) if (c := self.task.components.named(name))]
                ),
                "reason": reason or _NOTHING,
            },
            values_given,
        )
        self._is_filled = True

    def _ask(self, question: str) -> None:
        """What the supervisor wants to know, at most once."""
        if question and not any(each.question == SUPERVISORS for each in self.task.answers):
            text = without_secrets(question)[:1000]
            self._questions.append(ComposeQuestion(id=SUPERVISORS, text=text))

    def _instruction(self) -> str:
        first, *later = [*self.task.said] or [""]
        told = [first, *(f"Then: {each}" for each in later)]
        told += [
            f"Asked {each.question!r}, the answer: {without_secrets(each.answer)}"
            for each in self.task.answers
        ]
        return "\n".join(told)

    def _state(self) -> str:
        if self._procedure is None:
            return "Nothing is there yet."
        so_far = self._draft()
        wrong = [f"- {each}" for each in (*so_far.notes, *so_far.findings)][:_MOST_TOLD]
        asked = [f"- {each.text}"[:_LONGEST] for each in so_far.questions][:_MOST_TOLD]
        return "\n".join(
            (
                f"Steps and values:\n{shown(so_far.procedure, so_far.calls)}",
                "What code found:\n" + ("\n".join(wrong) or _NOTHING),
                "What code will ask the user:\n" + ("\n".join(asked) or _NOTHING),
            )
        )

    def _draft(self) -> Composition:
        return draft(
            self._procedure or Procedure(title="", body=()),
            self._calls,
            self._given,
            title=self._title if self._title != "Untitled" else "",
            said=self.task.said,
            answers=self.task.answers,
            components=self.task.components,
            composed_by=self.task.composed_by,
            questions=self._questions,
            notes=self.notes,
        )


def turn_given(action: Mapping[str, Any]) -> Turn:
    """The supervisor's action; raises `ModelAnswerError`."""
    told = action.get("next") or action.get("plan") or action.get("to")
    name = str((told[0] if isinstance(told, list) and told else told) or "").strip().casefold()
    known = {each.value: each for each in Next} | {
        "create": Next.ORCHESTRATOR,
        "structure": Next.ORCHESTRATOR,
        "parameters": Next.FILLER,
        "ask": Next.USER,
    }
    if name not in known:
        raise ModelAnswerError(f"next: expected one of {', '.join(Next)}, got {name[:40]!r}")
    reason, question = str(action.get("reason") or ""), str(action.get("question") or "")
    return Turn(known[name], reason[:2000], question[:1000])


def values_given(action: Mapping[str, Any]) -> Given:
    """The filler's action; raises `ModelAnswerError`."""
    told = action.get("parameters", action)
    if not isinstance(told, Mapping):
        raise ModelAnswerError("expected `parameters`, an object of objects by the ids of steps")
    return {str(step): dict(values) for step, values in told.items() if isinstance(values, Mapping)}


def told_unknown(names: Sequence[str]) -> str:
    """That there are no such components."""
    listed = ", ".join(repr(name[:100]) for name in names)
    return f"the catalogue has no component {listed}: use those that are listed, or none"


def told_components(components: Sequence[Component]) -> str:
    """Names and what they do, a line each, with the names of what they want to be told."""
    return "\n".join(_line(each) for each in components) or _NOTHING


def told_templates(components: Sequence[Component]) -> str:
    """Each component with its parameters and a blank template."""
    return "\n\n".join(_template(each) for each in components) or _NOTHING


def safe_description(text: str) -> str:
    """A description as a model may see it: what speaks to it is left out."""
    told = " ".join(text.split())[:_LONGEST]
    return "(left out: it speaks to a model)" if instruction_in(told) else without_secrets(told)


def _line(component: Component) -> str:
    does = "looks" if component.effect is Effect.READ else "may change something"
    told = ", ".join(
        name if name in component.required else f"[{name}]" for name in component.parameters
    )
    gives = f"; tells {', '.join(component.tells[:12])}" if component.tells else ""
    return f"- {component.name}({told}): {safe_description(component.description)} ({does}{gives})"


def _template(component: Component) -> str:
    lines = [f"{component.name}: {safe_description(component.description)}"]
    for name, each in component.parameters.items():
        facts = [each.type, "required" if name in component.required else "optional"]
        facts += [f"default {each.default!r}"] if each.default is not None else []
        facts += [f"one of {', '.join(each.values)}"] if each.values else []
        lines.append(f"  {name} ({', '.join(facts)}): {safe_description(each.description)}")
    if component.tells:
        lines.append(f"  tells: {', '.join(component.tells[:20])}")
    blank = ", ".join(
        f'"{name}": {_blank(each.default)}' for name, each in component.parameters.items()
    )
    return "\n".join((*lines, f"  template: {{{blank}}}"))


def _blank(default: str | None) -> str:
    return '""' if default is None else f'"{default}"'
