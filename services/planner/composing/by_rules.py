"""Composition by rules: clauses in order, for each the nearest component and its literal values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.language.clauses import mentions_condition, parse_condition
from services.language.sentences import capitalised
from services.planner.composing.component import Component, ComponentParameter, Components
from services.planner.composing.errors import NeedsModelError, NothingToComposeError
from services.planner.composing.filling import StepArguments
from services.planner.composing.filtering import ComponentFilter, RankedComponent, clauses
from services.planner.composing.plan import CompositionPlan, parse_plan
from services.planner.composing.values import follows, literal_value, values_of_type

LEAST_SCORE = 0.35
"""Cosine from which a component counts as doing what a clause says."""
LEAST_LEAD = 0.015
"""Margin by which the best component must lead; otherwise the user is asked."""
_LOOPS = re.compile(
    r"\b(?:for (?:each|every|all)|each of|every one of|while|until|repeat|loop|again and again"
    r"|as long as)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RulesPlan:
    """A plan with the values that its clauses state literally."""

    plan: CompositionPlan
    arguments: StepArguments
    notes: tuple[str, ...]


def compose_by_rules(
    instruction: str, components: Components, filter_: ComponentFilter
) -> RulesPlan:
    """Compose a sequence, one component per clause; an unmatched clause is a person's step.

    Raises:
        NeedsModelError: It tells conditions or repetitions, which rules would lose.
        NothingToComposeError: It tells nothing to do.
    """
    has_condition = any(
        parse_condition(each) is not None or mentions_condition(each)
        for each in re.split(r"(?<=[.!?])\s+|\n", instruction)
    )
    if has_condition or _LOOPS.search(instruction):
        raise NeedsModelError(
            "it says under which condition or how often something is done, which takes a language "
            "model: set FLOWXPERT_MODEL_URL, or say the steps one after the other"
        )
    parts = clauses(instruction)
    if not parts:
        raise NothingToComposeError("it tells nothing to do")
    steps, arguments, notes = [], {}, []
    for number, clause in enumerate(parts, start=1):
        matches = best_components(filter_.rank(clause, components, most=8))
        if len(matches) == 1:
            matches = [
                components.by_name[each]
                for each in components.same_description(matches[0].name, clause)
            ]
        if not matches:
            notes.append(f"no component does “{clause[:200]}”: it is a person's step")
        steps.append({"do": capitalised(clause)[:1000], "use": [each.name for each in matches]})
        if len(matches) == 1:
            arguments[f"s{number}"] = dict(literal_values(matches[0], clause))
    plan = parse_plan({"title": "", "steps": steps}, components)
    return RulesPlan(plan, arguments, tuple(notes))


def best_components(ranked: list[RankedComponent]) -> list[Component]:
    """Return the component that fits a clause; several if none leads clearly, or none."""
    named = [each for each in ranked if each.is_named]
    if named:
        return [each.component for each in named[:1]]
    near = [each for each in ranked if each.score >= LEAST_SCORE]
    best = near[0].score if near else 0.0
    close = [each.component for each in near if best - each.score < LEAST_LEAD]
    return close[:5]


def literal_values(component: Component, clause: str) -> Iterator[tuple[str, str]]:
    """Yield values that the clause states by name, or that only one parameter accepts."""
    left: dict[str, ComponentParameter] = {}
    taken: set[str] = set()
    for name, parameter in component.parameters.items():
        value = literal_value(name, parameter, clause)
        if value is None:
            left[name] = parameter
        else:
            taken.add(value)
            yield name, value
    wanted = [name for name in left if name in component.required] or list(left)
    offered = {
        name: [value for value in values_of_type(name, left[name], clause) if value not in taken]
        for name in wanted
    }
    for name, values in offered.items():
        others = {
            value for other, candidates in offered.items() if other != name for value in candidates
        }
        own = [value for value in dict.fromkeys(values) if value not in others]
        if len(own) == 1 and follows(own[0], clause, name):
            yield name, own[0]
