"""Composing by rules: clauses in order, for each the nearest component, values said plainly."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.language.clauses import condition, mentions_condition
from services.language.sentences import capitalised
from services.planner.composing.catalogue.component import Component, Components, Parameter
from services.planner.composing.catalogue.filtering import ComponentFilter, Ranked
from services.planner.composing.errors import NeedsModelError, NothingToComposeError
from services.planner.composing.filling import Given
from services.planner.composing.plan import Plan, of_sequence
from services.planner.composing.values import by_type, follows, said_plainly
from services.planner.composing.words.clauses import clauses

LEAST_SCORE = 0.35
"""Cosine from which a component does what a clause tells."""
LEAST_LEAD = 0.015
"""By which it must be ahead of the next one; else somebody is asked."""
_LOOPS = re.compile(
    r"\b(?:for (?:each|every|all)|each of|every one of|while|until|repeat|loop|again and again"
    r"|as long as)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ByRules:
    """A plan with the values that clauses say plainly."""

    plan: Plan
    given: Given
    notes: tuple[str, ...]


def composed(instruction: str, components: Components, filter_: ComponentFilter) -> ByRules:
    """A sequence, one component a clause; a clause that none fits is a person's step.

    Raises:
        NeedsModelError: It tells conditions or repetitions, which rules would lose.
        NothingToComposeError: It tells nothing to do.
    """
    if _LOOPS.search(instruction) or _has_condition(instruction):
        raise NeedsModelError(
            "it says under which condition or how often something is done, which takes a language "
            "model: set FLOWXPERT_MODEL_URL, or say the steps one after the other"
        )
    parts = clauses(instruction)
    if not parts:
        raise NothingToComposeError("it tells nothing to do")
    steps, given, notes = [], {}, []
    for number, clause in enumerate(parts, start=1):
        found = fitting(filter_.ranked(clause, components, most=8))
        if len(found) == 1:
            found = [components.by_name[each] for each in components.twins(found[0].name, clause)]
        if not found:
            notes.append(f"no component does “{clause[:200]}”: it is a person's step")
        steps.append({"do": capitalised(clause)[:1000], "use": [each.name for each in found]})
        if len(found) == 1:
            given[f"s{number}"] = dict(literal_values(found[0], clause))
    return ByRules(of_sequence("", steps, components), given, tuple(notes))


def fitting(ranked: list[Ranked]) -> list[Component]:
    """The component that fits a clause; several where none is ahead, none where none fits."""
    named = [each for each in ranked if each.is_named]
    if named:
        return [each.component for each in named[:1]]
    near = [each for each in ranked if each.score >= LEAST_SCORE]
    best = near[0].score if near else 0.0
    close = [each.component for each in near if best - each.score < LEAST_LEAD]
    return close[:5]


def literal_values(component: Component, clause: str) -> Iterator[tuple[str, str]]:
    """Values that stand in the clause under their name, or that only one parameter takes."""
    left: dict[str, Parameter] = {}
    taken: set[str] = set()
    for name, parameter in component.parameters.items():
        value = said_plainly(name, parameter, clause)
        if value is None:
            left[name] = parameter
        else:
            taken.add(value)
            yield name, value
    wanted = [name for name in left if name in component.required] or list(left)
    offered = {
        name: [value for value in by_type(name, left[name], clause) if value not in taken]
        for name in wanted
    }
    for name, values in offered.items():
        others = {value for other, told in offered.items() if other != name for value in told}
        own = [value for value in dict.fromkeys(values) if value not in others]
        if len(own) == 1 and follows(own[0], clause, name):
            yield name, own[0]


def _has_condition(instruction: str) -> bool:
    return any(
        condition(each) is not None or mentions_condition(each)
        for each in re.split(r"(?<=[.!?])\s+|\n", instruction)
    )
