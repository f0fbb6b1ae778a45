"""The team: a supervisor plans and reviews, an orchestrator orders components, a filler fills.

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
from services.planner.composing.component import Component, ComponentEffect, Components
from services.planner.composing.drafting import build_draft
from services.planner.composing.filling import StepArguments, current_arguments
from services.planner.composing.filtering import RankedComponent
from services.planner.composing.model_session import ModelSession
from services.planner.composing.plan import CompositionPlan, parse_plan, render_plan
from services.planner.composing.secrets import without_secrets
from services.runbook.model import Procedure

SUPERVISOR = load_prompt("services.planner", "compose_supervisor")
ORCHESTRATOR = load_prompt("services.planner", "compose_orchestrator")
FILLER = load_prompt("services.planner", "compose_filler")

SENT_BACK = 2
"""Number of times the supervisor may send a member's result back."""
FAILURES: tuple[type[FlowXpertError], ...] = (
    ModelAnswerError,
    ModelUnavailableError,
    ModelRefusedError,
    BudgetExceededError,
)
_NOTHING = "(none)"
_MAX_LISTED = 20
_LONGEST = 400
SUPERVISOR_QUESTION = "supervisor"
"""The id of the supervisor's own question."""


class Next(StrEnum):
    """The participant whose turn is next."""

    ORCHESTRATOR = "orchestrator"
    FILLER = "filler"
    USER = "user"
    DONE = "done"


@dataclass(frozen=True)
class Turn:
    """A decision of the supervisor."""

    next: Next
    reason: str = ""
    question: str = ""


@dataclass
class ComposingTask:
    """The composition that the team works on."""

    instructions: Sequence[str]
    answers: Sequence[ComposeAnswer]
    components: Components
    ranked: Sequence[RankedComponent]
    composed_by: str
    before: Composition | None = None
    """The draft to be changed."""


@dataclass
class ComposingTeam:
    """Team of prompts for one task."""

    session: ModelSession
    task: ComposingTask
    notes: list[str] = field(default_factory=list)
    _title: str = ""
    _procedure: Procedure | None = None
    _calls: tuple[ComposedCall, ...] = ()
    _arguments: StepArguments = field(default_factory=dict)
    _questions: list[ComposeQuestion] = field(default_factory=list)
    _is_filled: bool = False

    def compose(self) -> Composition | None:
        """Compose the draft; return None if there is not even a plan, with the reason in `notes`.

        A failure after the first plan leaves the plan as it is.
        """
        before = self.task.before
        if before is not None:
            self._title, self._procedure = before.title, before.procedure
            self._calls, self._arguments = before.calls, current_arguments(before.calls)
        try:
            self._work()
        except FAILURES as error:
            self.notes.append(f"the model did not finish: {error}"[:_LONGEST])
        is_unchanged = before and self._calls is before.calls and not self._is_filled
        if not self._questions and (self._procedure is None or is_unchanged):
            return None
        return self._draft()

    def _work(self) -> None:
        turn = self._ask_supervisor(Next.ORCHESTRATOR)
        if self._procedure is None and turn.next in {Next.FILLER, Next.DONE}:
            turn = Turn(Next.ORCHESTRATOR, turn.reason)
        done: dict[Next, int] = {Next.ORCHESTRATOR: 0, Next.FILLER: 0}
        while turn.next in done:
            done[turn.next] += 1
            if turn.next is Next.ORCHESTRATOR:
                self._run_orchestrator(turn.reason)
            else:
                self._run_filler(turn.reason)
            turn = self._next_turn(turn.next, done)
        if turn.next is Next.USER:
            question = turn.question or turn.reason
            is_answered = any(a.question == SUPERVISOR_QUESTION for a in self.task.answers)
            if question and not is_answered:  # the user is asked once at most
                text = without_secrets(question)[:1000]
                self._questions.append(ComposeQuestion(id=SUPERVISOR_QUESTION, text=text))

    def _next_turn(self, last: Next, done: Mapping[Next, int]) -> Turn:
        """Decide who works next: the supervisor says, within the limit on sending back."""
        onward = Next.FILLER if last is Next.ORCHESTRATOR else Next.DONE
        if onward is Next.FILLER and not any(call.component for call in self._calls):
            onward = Next.DONE
        turn = self._ask_supervisor(onward)
        if turn.next in done and done[turn.next] > SENT_BACK:
            self.notes.append(f"not mended after {SENT_BACK} times: {turn.reason}"[:_LONGEST])
            return Turn(Next.DONE if last is Next.FILLER or done[Next.FILLER] else onward)
        if turn.next is Next.DONE and onward is Next.FILLER:
            return Turn(Next.FILLER)
        return turn

    def _ask_supervisor(self, otherwise: Next) -> Turn:
        """Ask the supervisor for its decision; an unreadable one means `otherwise`."""
        try:
            return self.session.ask(
                SUPERVISOR, {"instruction": self._instruction(), "state": self._state()}, parse_turn
            )
        except ModelAnswerError:
            return Turn(otherwise)

    def _run_orchestrator(self, reason: str) -> None:
        components, is_last = self.task.components, [self.session.corrections + 1]

        def read(action: Mapping[str, Any]) -> CompositionPlan:
            is_last[0] -= 1
            plan = parse_plan(action, components)
            if (unknown := plan.unknown(components)) and is_last[0]:
                raise ModelAnswerError(describe_unknown(unknown))
            return plan

        before = render_plan(self._procedure, self._calls) if self._procedure else _NOTHING
        plan = self.session.ask(
            ORCHESTRATOR,
            {
                "instruction": self._instruction(),
                "components": list_components([each.component for each in self.task.ranked]),
                "before": before,
                "reason": reason or _NOTHING,
            },
            read,
        )
        self.notes += [f"refused: {describe_unknown([name])}" for name in plan.unknown(components)]
        self._adopt_plan(plan)

    def _adopt_plan(self, plan: CompositionPlan) -> None:
        """Adopt the new plan; a step that calls the same component as before keeps its values.

        A call becomes a choice if other components have the same description.
        """
        instruction = "\n".join(self.task.instructions)
        kept = {(call.does, call.component): self._arguments.get(call.step) for call in self._calls}
        self._title = without_secrets(plan.title) or self._title
        self._procedure = plan.procedure
        self._calls = tuple(
            call.model_copy(update={"component": "", "options": same})
            if len(same := self.task.components.same_description(call.component, instruction)) > 1
            else call
            for call in plan.calls(self.task.components)
        )
        self._arguments = {
            call.step: values
            for call in self._calls
            if (values := kept.get((call.does, call.component)))
        }

    def _run_filler(self, reason: str) -> None:
        assert self._procedure is not None  # noqa: S101 - the orchestrator was there before
        used = {name for call in self._calls for name in (call.component, *call.options) if name}
        self._arguments = self.session.ask(
            FILLER,
            {
                "instruction": self._instruction(),
                "steps": render_plan(self._procedure, self._draft().calls),
                "components": render_templates(
                    [c for name in sorted(used) if (c := self.task.components.find(name))]
                ),
                "reason": reason or _NOTHING,
            },
            parse_arguments,
        )
        self._is_filled = True

    def _instruction(self) -> str:
        first, *later = [*self.task.instructions] or [""]
        lines = [first, *(f"Then: {each}" for each in later)]
        lines += [
            f"Asked {each.question!r}, the answer: {without_secrets(each.answer)}"
            for each in self.task.answers
        ]
        return "\n".join(lines)

    def _state(self) -> str:
        if self._procedure is None:
            return "Nothing is there yet."
        so_far = self._draft()
        wrong = [f"- {each}" for each in (*so_far.notes, *so_far.findings)][:_MAX_LISTED]
        questions = [f"- {each.text}"[:_LONGEST] for each in so_far.questions][:_MAX_LISTED]
        return "\n".join(
            (
                f"Steps and values:\n{render_plan(so_far.procedure, so_far.calls)}",
                "What code found:\n" + ("\n".join(wrong) or _NOTHING),
                "What code will ask the user:\n" + ("\n".join(questions) or _NOTHING),
            )
        )

    def _draft(self) -> Composition:
        return build_draft(
            self._procedure or Procedure(title="", body=()),
            self._calls,
            self._arguments,
            title=self._title if self._title != "Untitled" else "",
            instructions=self.task.instructions,
            answers=self.task.answers,
            components=self.task.components,
            composed_by=self.task.composed_by,
            questions=self._questions,
            notes=self.notes,
        )


def parse_turn(action: Mapping[str, Any]) -> Turn:
    """Parse the supervisor's action; raises `ModelAnswerError`."""
    choice = action.get("next") or action.get("plan") or action.get("to")
    name = (
        str((choice[0] if isinstance(choice, list) and choice else choice) or "").strip().casefold()
    )
    by_name = {each.value: each for each in Next} | {
        "create": Next.ORCHESTRATOR,
        "structure": Next.ORCHESTRATOR,
        "parameters": Next.FILLER,
        "ask": Next.USER,
    }
    if name not in by_name:
        raise ModelAnswerError(f"next: expected one of {', '.join(Next)}, got {name[:40]!r}")
    reason, question = str(action.get("reason") or ""), str(action.get("question") or "")
    return Turn(by_name[name], reason[:2000], question[:1000])


def parse_arguments(action: Mapping[str, Any]) -> StepArguments:
    """Parse the filler's action; raises `ModelAnswerError`."""
    arguments = action.get("parameters", action)
    if not isinstance(arguments, Mapping):
        raise ModelAnswerError("expected `parameters`, an object of objects by the ids of steps")
    return {
        str(step): dict(values) for step, values in arguments.items() if isinstance(values, Mapping)
    }


def describe_unknown(names: Sequence[str]) -> str:
    """Describe that the catalogue has no such components."""
    listed = ", ".join(repr(name[:100]) for name in names)
    return f"the catalogue has no component {listed}: use those that are listed, or none"


def list_components(components: Sequence[Component]) -> str:
    """List names, parameters and descriptions, one component per line."""
    return "\n".join(_line(each) for each in components) or _NOTHING


def render_templates(components: Sequence[Component]) -> str:
    """Render each component with its parameters and a blank template."""
    return "\n\n".join(_template(each) for each in components) or _NOTHING


def safe_description(text: str) -> str:
    """Return a description that a model may see; one that addresses a model is left out."""
    description = " ".join(text.split())[:_LONGEST]
    return (
        "(left out: it speaks to a model)"
        if instruction_in(description)
        else without_secrets(description)
    )


def _line(component: Component) -> str:
    does = "looks" if component.effect is ComponentEffect.READ else "may change something"
    parameters = ", ".join(
        name if name in component.required else f"[{name}]" for name in component.parameters
    )
    gives = f"; tells {', '.join(component.tells[:12])}" if component.tells else ""
    description = safe_description(component.description)
    return f"- {component.name}({parameters}): {description} ({does}{gives})"


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
        f'"{name}": "{each.default or ""}"' for name, each in component.parameters.items()
    )
    return "\n".join((*lines, f"  template: {{{blank}}}"))
