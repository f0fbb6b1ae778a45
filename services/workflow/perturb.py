"""Workflows made worse on purpose, to see whether a scorer notices."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import count

from services.kit.errors import InvalidInputError
from services.workflow.lint import STRUCTURE_CHECKS
from services.workflow.model import Step, StepKind, Transition, Workflow
from services.workflow.wording import reword

SEVERITIES = (0.1, 0.3, 0.5)
"""Shares of the steps, or of the decisions, that are touched."""


class PerturbationError(InvalidInputError):
    """The workflow has nothing that could be perturbed in the way asked for."""


class Perturbation(StrEnum):
    """What happens to the touched steps."""

    MISSING = "missing"
    """They disappear; what led to them leads to what followed."""
    SHUFFLED = "shuffled"
    """They exchange places."""
    FOREIGN = "foreign"
    """Steps of another workflow come in between."""
    REWORDED = "reworded"
    """They say the same in other words: a scorer should not mind."""
    SWAPPED = "swapped"
    """Decisions exchange the targets of two exits."""


def perturb(
    workflow: Workflow,
    kind: Perturbation,
    severity: float,
    rng: random.Random,
    foreign_steps: Sequence[Step] = (),
) -> Workflow:
    """A copy with a share of its steps perturbed, at least one; `severity` is above 0, at most 1.

    The same `rng` state gives the same result. The graph stays valid: a step without exits is a
    terminal, and a workflow that was structurally lint-clean still is.

    Raises:
        PerturbationError: Too few steps or decisions for this kind, or no foreign steps given.
    """
    if not 0 < severity <= 1:
        raise PerturbationError(f"severity must be above 0 and at most 1, got {severity!r}")
    if kind is Perturbation.FOREIGN:
        return _with_foreign(workflow, severity, rng, foreign_steps)
    return _PERTURBATIONS[kind](workflow, severity, rng)


def _without_some(workflow: Workflow, severity: float, rng: random.Random) -> Workflow:
    for _ in range(_share(len(workflow.steps), severity)):
        order = rng.sample(workflow.steps, len(workflow.steps))
        fewer = (_without(workflow, step) for step in order)
        limit = _faults(workflow)
        found = next((candidate for candidate in fewer if _faults(candidate) <= limit), None)
        if found is None:
            raise PerturbationError("no step can be taken out and leave a workflow")
        workflow = found
    return workflow


def _faults(workflow: Workflow) -> int:
    return sum(1 for check in STRUCTURE_CHECKS for _ in check(workflow, {}))


def _without(workflow: Workflow, step: Step) -> Workflow:
    """Every way into `step` now leads to what followed it."""
    exits = [edge for edge in workflow.exits(step.id) if edge.target != step.id]
    transitions: list[Transition] = []
    for edge in workflow.transitions:
        if edge.target == step.id and edge.source != step.id:
            transitions += [_joined(edge, after) for after in exits if after.target != edge.source]
        elif edge.source != step.id:
            transitions.append(edge)
    kept = [other for other in workflow.steps if other.id != step.id]
    if step == workflow.steps[0] and exits:
        kept.sort(key=lambda other: other.id != exits[0].target)
    return _settled(workflow, kept, transitions)


def _joined(before: Transition, after: Transition) -> Transition:
    conditions = [condition for condition in (before.condition, after.condition) if condition]
    return Transition(source=before.source, target=after.target, condition=" and ".join(conditions))


def _settled(
    workflow: Workflow, steps: Sequence[Step], transitions: Sequence[Transition]
) -> Workflow:
    """With kinds and conditions that fit the exits each step has now."""
    exits: dict[str, list[Transition]] = {step.id: [] for step in steps}
    for edge in dict.fromkeys(transitions):
        exits[edge.source].append(edge)
    for step_id, edges in exits.items():
        if len(edges) == 1:
            exits[step_id] = [edges[0].model_copy(update={"condition": ""})]
    return _changed(
        workflow,
        [step.model_copy(update={"kind": _fitting_kind(step, exits[step.id])}) for step in steps],
        [edge for edges in exits.values() for edge in edges],
    )


def _fitting_kind(step: Step, exits: Sequence[Transition]) -> StepKind:
    if not exits:
        return StepKind.TERMINAL
    if len(exits) == 1:
        return StepKind.PROCESS if step.kind is StepKind.DECISION else step.kind
    return StepKind.DECISION if all(edge.condition for edge in exits) else step.kind


def _shuffled(workflow: Workflow, severity: float, rng: random.Random) -> Workflow:
    """Contents move, the graph stays; decisions keep theirs while two other steps can move."""
    steps = list(workflow.steps)
    actions = [i for i, step in enumerate(steps) if step.kind is not StepKind.DECISION]
    places = actions if len(actions) >= 2 else list(range(len(steps)))
    if len(places) < 2:
        raise PerturbationError("one step alone cannot change places")
    chosen = rng.sample(places, min(len(places), max(2, _share(len(steps), severity))))
    for place, origin in zip(chosen, chosen[1:] + chosen[:1], strict=True):
        old, new = workflow.steps[place], workflow.steps[origin]
        steps[place] = new.model_copy(update={"id": old.id, "kind": old.kind})
    return _changed(workflow, steps, workflow.transitions)


def _with_foreign(
    workflow: Workflow, severity: float, rng: random.Random, foreign_steps: Sequence[Step]
) -> Workflow:
    if not foreign_steps or not workflow.steps:
        raise PerturbationError("expected steps of another workflow to put between these")
    number = min(_share(len(workflow.steps), severity), len(foreign_steps))
    for step in rng.sample(list(foreign_steps), number):
        workflow = _with_inserted(workflow, step, rng)
    return workflow


def _with_inserted(workflow: Workflow, step: Step, rng: random.Random) -> Workflow:
    """`step` as an action on one of the arrows, or before the start when there is none."""
    unused = (f"x{n}" for n in count(1) if f"x{n}" not in workflow.by_id)
    inserted = step.model_copy(update={"id": next(unused), "kind": StepKind.PROCESS})
    transitions = list(workflow.transitions)
    if not transitions:
        onward = Transition(source=inserted.id, target=workflow.steps[0].id)
        return _changed(workflow, [inserted, *workflow.steps], [onward])
    place = rng.randrange(len(transitions))
    edge = transitions[place]
    transitions[place : place + 1] = [
        edge.model_copy(update={"target": inserted.id}),
        Transition(source=inserted.id, target=edge.target),
    ]
    position = workflow.steps.index(workflow.by_id[edge.source]) + 1
    steps = [*workflow.steps[:position], inserted, *workflow.steps[position:]]
    return _changed(workflow, steps, transitions)


def _reworded(workflow: Workflow, severity: float, rng: random.Random) -> Workflow:
    steps = list(workflow.steps)
    places = [i for i, step in enumerate(steps) if step.text.strip()]
    if not places:
        raise PerturbationError("no step has a text to reword")
    for place in rng.sample(places, min(len(places), _share(len(steps), severity))):
        text = reword(steps[place].text, rng)
        steps[place] = steps[place].model_copy(update={"text": text})
    return _changed(workflow, steps, workflow.transitions)


def _with_swapped(workflow: Workflow, severity: float, rng: random.Random) -> Workflow:
    decisions = list(workflow.of_kind(StepKind.DECISION))
    choices = [step for step in decisions if len({e.target for e in workflow.exits(step.id)}) > 1]
    if not choices:
        raise PerturbationError("no decision leads to two different steps")
    transitions = list(workflow.transitions)
    for step in rng.sample(choices, min(len(choices), _share(len(decisions), severity))):
        exits = [i for i, edge in enumerate(workflow.transitions) if edge.source == step.id]
        first = rng.choice(exits)
        targets = workflow.transitions[first].target
        second = rng.choice([i for i in exits if workflow.transitions[i].target != targets])
        for place, other in ((first, second), (second, first)):
            target = workflow.transitions[other].target
            transitions[place] = transitions[place].model_copy(update={"target": target})
    return _changed(workflow, workflow.steps, transitions)


def _changed(
    workflow: Workflow, steps: Sequence[Step], transitions: Sequence[Transition]
) -> Workflow:
    return Workflow(
        title=workflow.title,
        steps=tuple(steps),
        transitions=tuple(transitions),
        provenance=workflow.provenance,
    )


def _share(total: int, severity: float) -> int:
    """That share of `total`, halves rounded up, at least one."""
    return max(1, math.floor(total * severity + 0.5))


_PERTURBATIONS: Mapping[Perturbation, Callable[[Workflow, float, random.Random], Workflow]] = {
    Perturbation.MISSING: _without_some,
    Perturbation.SHUFFLED: _shuffled,
    Perturbation.REWORDED: _reworded,
    Perturbation.SWAPPED: _with_swapped,
}
