"""A workflow while it is being changed, and what makes it one again."""

import math
from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple

from services.workflow.graph import reachable, successors
from services.workflow.lint import STRUCTURE_CHECKS
from services.workflow.model import Step, StepKind, Transition, Workflow


class Edit(NamedTuple):
    """Steps in reading order, the first being the start, and the arrows between them.

    Kinds and conditions need not fit yet, and steps may be left that nothing leads to.
    """

    steps: Sequence[Step]
    transitions: Sequence[Transition]


def share(total: int, severity: float) -> int:
    """That share of `total`, halves rounded up, at least one."""
    return max(1, math.floor(total * severity + 0.5))


def faults(workflow: Workflow) -> int:
    """How many findings the checks of the graph have."""
    return sum(1 for check in STRUCTURE_CHECKS for _ in check(workflow, {}))


def unused_id(steps: Iterable[Step]) -> str:
    """An id that no step has."""
    ids = {step.id for step in steps}
    return next(id_ for n in count(1) if (id_ := f"x{n}") not in ids)


def changed(
    workflow: Workflow, steps: Sequence[Step], transitions: Sequence[Transition]
) -> Workflow:
    """The workflow with these steps and arrows."""
    return Workflow(
        title=workflow.title,
        steps=tuple(steps),
        transitions=tuple(transitions),
        provenance=workflow.provenance,
    )


def settled(workflow: Workflow, edit: Edit) -> Workflow:
    """With kinds and conditions that fit the exits each step has now."""
    exits: dict[str, list[Transition]] = {step.id: [] for step in edit.steps}
    for edge in dict.fromkeys(edit.transitions):
        exits[edge.source].append(edge)
    for step_id, edges in exits.items():
        if len(edges) == 1:
            exits[step_id] = [edges[0].model_copy(update={"condition": ""})]
    return changed(
        workflow,
        [s.model_copy(update={"kind": _fitting_kind(s, exits[s.id])}) for s in edit.steps],
        [edge for edges in exits.values() for edge in edges],
    )


def pruned(edit: Edit) -> Edit:
    """Without the steps that nothing leads to."""
    kept = reachable(edit.steps[0].id, successors(edit.transitions))
    return Edit(
        [step for step in edit.steps if step.id in kept],
        [edge for edge in edit.transitions if edge.source in kept and edge.target in kept],
    )


def without(workflow: Workflow, step: Step) -> Edit:
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
    return Edit(kept, transitions)


def redirected(workflow: Workflow, edge: Transition, target: str) -> list[Transition]:
    """All arrows, this one leading elsewhere."""
    moved = edge.model_copy(update={"target": target})
    return [moved if other == edge else other for other in workflow.transitions]


def inserted_before(edit: Edit, step: Step, place: str) -> Edit:
    """With `step` on every way to the step whose id is `place`, the start of the work included."""
    position = next(n for n, other in enumerate(edit.steps) if other.id == place)
    moved = [
        edge.model_copy(update={"target": step.id}) if edge.target == place else edge
        for edge in edit.transitions
    ]
    steps = [*edit.steps[:position], step, *edit.steps[position:]]
    return Edit(steps, [*moved, Transition(source=step.id, target=place)])


def _joined(before: Transition, after: Transition) -> Transition:
    conditions = [condition for condition in (before.condition, after.condition) if condition]
    return Transition(source=before.source, target=after.target, condition=" and ".join(conditions))


def _fitting_kind(step: Step, exits: Sequence[Transition]) -> StepKind:
    if not exits:
        return StepKind.TERMINAL
    if len(exits) == 1:
        return StepKind.PROCESS if step.kind is not StepKind.PROCESS else step.kind
    return StepKind.DECISION if all(edge.condition for edge in exits) else step.kind
