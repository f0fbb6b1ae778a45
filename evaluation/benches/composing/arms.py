"""Ways to compose an instruction, and what comes of an answer under each.

`team` and `no-supervisor` go through the product's own checks; `alone` is what a model wrote.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluation.material.composing.instructions import (
    PERSON,
    Again,
    Arms,
    Call,
    Instruction,
    Tree,
    calls_of,
)
from evaluation.measures.composed import Composed, composed
from services.contracts.composing import ComposedCall, ComposedValue, ValueOrigin
from services.knowledge.ports import Embedder
from services.llm.chat_model import ModelAnswerError
from services.planner.composing.by_rules import compose_by_rules as by_rules
from services.planner.composing.component import Component, Components
from services.planner.composing.errors import NeedsModelError, NothingToComposeError
from services.planner.composing.filling import StepArguments, fill_calls
from services.planner.composing.filtering import ComponentFilter
from services.planner.composing.plan import CompositionPlan, parse_plan
from services.planner.composing.team import parse_arguments
from services.runbook.model import Body, Choice, Do, Loop

SHOWN = 15
"""Components that are shown for an instruction."""


class Arm(StrEnum):
    """Who composes."""

    TEAM = "team"
    NO_SUPERVISOR = "no-supervisor"
    ALONE = "alone"
    """One model, told the notation and the components, in one answer; no code checks it."""
    RETRIEVAL = "retrieval"
    """No model: the nearest component of each clause, values that are said plainly."""


MODEL_ARMS = (Arm.TEAM, Arm.NO_SUPERVISOR, Arm.ALONE)
"""Arms that a model answers."""


@dataclass(frozen=True)
class Posed:
    """An instruction with the components that are shown for it."""

    instruction: Instruction
    components: Components
    shown: tuple[Component, ...]


class Posing:
    """Chooses what is shown, as the product does."""

    def __init__(self, embedder: Embedder) -> None:
        self.filter = ComponentFilter(embedder)

    def posed(self, instruction: Instruction, components: Components) -> Posed:
        """What is to be changed is shown too."""
        ranked = self.filter.rank(instruction.text, components, SHOWN)
        by_name = {each.component.name: each.component for each in ranked}
        for call in calls_of(instruction.before):
            component = components.find(call.component)
            if component is not None:
                by_name.setdefault(component.name, component)
        return Posed(instruction, components, tuple(by_name.values()))

    def retrieved(self, posed: Posed) -> Composed | None:
        """What rules make of it; None where they say that it takes a model."""
        if posed.instruction.before:
            return None
        try:
            made = by_rules(posed.instruction.text, posed.components, self.filter)
        except (NeedsModelError, NothingToComposeError):
            return None
        return _checked(made.plan, made.arguments, posed)


def answered(arm: Arm, answer: Mapping[str, Any], posed: Posed) -> Composed | None:
    """What comes of an answer; None where it cannot be read, as the product would say."""
    try:
        if arm is Arm.ALONE:
            plan = parse_plan(answer, posed.components)
            return _as_written(plan)
        parts = dict(answer)
        if arm is Arm.TEAM and isinstance(answer.get("reflected"), Mapping):
            parts |= answer["reflected"]
        plan = parse_plan(parts["orchestrated"], posed.components)
        return _checked(plan, parse_arguments(parts.get("filled") or {}), posed)
    except (ModelAnswerError, KeyError, TypeError):
        return None


def recall(posed: Posed) -> float | None:
    """The share of the right components that is shown; None where none is right."""
    wanted = {c.component for c in calls_of(posed.instruction.accepted[0])} - {PERSON}
    names = {each.name for each in posed.shown}
    return len(wanted & names) / len(wanted) if wanted else None


def steps_of(tree: Tree) -> list[dict[str, Any]]:
    """A tree in the notation that a model is shown."""
    return [_step(each) for each in tree]


def _step(each: Call | Arms | Again) -> dict[str, Any]:
    match each:
        case Call():
            return {"use": each.component} if each.component else {"do": each.says or "by hand"}
        case Again():
            return {"for_each": each.item or "item", "steps": steps_of(each.body)}
        case Arms():
            first, *more = zip(each.conditions, each.bodies, strict=True)
            made: dict[str, Any] = {"if": first[0], "then": steps_of(first[1])}
            if more:
                made["elif"] = [
                    {"if": condition, "then": steps_of(body)} for condition, body in more
                ]
            if each.otherwise:
                made["else"] = steps_of(each.otherwise)
            return made


def _checked(plan: CompositionPlan, values: StepArguments, posed: Posed) -> Composed:
    filling = fill_calls(
        plan.calls(posed.components),
        values,
        instructions=[posed.instruction.text],
        answers=(),
        components=posed.components,
    )
    return _composed(plan, filling.calls, open_questions=len(filling.questions))


def _as_written(plan: CompositionPlan) -> Composed:
    calls = [
        ComposedCall(
            step=step.id,
            does=step.text,
            component=names[0] if names else "",
            parameters={
                name: ComposedValue(value=str(value)[:4000])
                for name, value in plan.arguments.get(step.id, {}).items()
            },
        )
        for step in plan.steps
        for names in [plan.uses.get(step.id, ())]
    ]
    return _composed(plan, calls)


def _composed(
    plan: CompositionPlan, calls: Sequence[ComposedCall], open_questions: int = 0
) -> Composed:
    by_step = {call.step: call for call in calls}
    places = {call.step: place for place, call in enumerate(calls)}
    of_components = {call.component: place for place, call in enumerate(calls) if call.component}

    def text(value: ComposedValue) -> str:
        if value.origin is ValueOrigin.FIELD:
            return f"@{of_components.get(value.value.partition('.')[0], '')}"
        if value.origin is ValueOrigin.PERSON:
            return "<secret>"
        reference = value.value.strip().lstrip("@$").partition(".")[0]
        return (
            f"@{places[reference]}"
            if reference in places and reference != value.value
            else value.value
        )

    def tree(body: Body) -> Iterator[Call | Arms | Again]:
        for node in body:
            if isinstance(node, Do):
                call = by_step[node.id]
                yield Call(
                    call.component or (call.options[0] if call.options else PERSON),
                    {name: text(value) for name, value in call.parameters.items()},
                )
            elif isinstance(node, Choice):
                other = tuple(tree(node.otherwise)) if node.otherwise else None
                yield Arms(tuple(tuple(tree(arm.body)) for arm in node.arms), other)
            elif isinstance(node, Loop):
                yield Again(tuple(tree(node.body)))

    return composed(tuple(tree(plan.procedure.body)), open_questions)
