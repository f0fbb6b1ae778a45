"""One text for one workflow, whatever its ids are and in whatever order its lines stand.

    1. decision: Has any fan failed?
       if no -> 2
       if yes -> 3
    2. terminal: The alarm is gone.
    3. terminal: Replace the fan tray.

A language model that is asked how likely a workflow is minds raw ids and the order of lines more
than what the workflow says; so these are taken away first.
"""

import hashlib
from collections.abc import Mapping, Sequence

from services.workflow.model import Step, Transition, Workflow

_Marks = Mapping[str, str]
"""By step id: what the step says and what can be reached from it."""


def canonical_text(workflow: Workflow, *, with_commands: bool = False) -> str:
    """Steps numbered in a walk from the start, depth first, exits in the order of conditions.

    The start is the only step that nothing leads to; where there is none or several, the first
    one. Steps that no path leads to follow at the end. Titles, citations and expected output are
    left out.
    """
    order = canonical_order(workflow)
    numbers = {step.id: number for number, step in enumerate(order, start=1)}
    lines: list[str] = []
    for step in order:
        lines.append(f"{numbers[step.id]}. {step.kind}: {_line(step.text)}")
        lines += [f"   $ {_line(command)}" for command in step.commands if with_commands]
        lines += _exits(workflow.exits(step.id), numbers)
    return "\n".join(lines)


def canonical_order(workflow: Workflow) -> list[Step]:
    """The steps in the order of the walk."""
    exits = _exits_of(workflow)
    marks = _marks(workflow, exits)
    seen: dict[str, None] = {}
    for start in _starts(workflow, marks):
        waiting = [start]
        while waiting:
            step_id = waiting.pop()
            if step_id not in seen:
                seen[step_id] = None
                waiting += reversed(_targets(exits[step_id], marks))
    return [workflow.by_id[step_id] for step_id in seen]


def _exits_of(workflow: Workflow) -> dict[str, list[Transition]]:
    exits: dict[str, list[Transition]] = {step.id: [] for step in workflow.steps}
    for edge in workflow.transitions:
        exits[edge.source].append(edge)
    return exits


def _starts(workflow: Workflow, marks: _Marks) -> list[str]:
    """The start, then all steps that are taken up only if no path led to them."""
    entered = {edge.target for edge in workflow.transitions if edge.target != edge.source}
    roots = [step.id for step in workflow.steps if step.id not in entered]
    first = roots if len(roots) == 1 else [step.id for step in workflow.steps[:1]]
    others = sorted(marks, key=lambda step_id: (step_id in entered, marks[step_id]))
    return [*first, *others]


def _targets(exits: Sequence[Transition], marks: _Marks) -> list[str]:
    ordered = sorted(exits, key=lambda edge: (_condition(edge), marks[edge.target]))
    return [edge.target for edge in ordered]


def _marks(workflow: Workflow, exits: Mapping[str, Sequence[Transition]]) -> _Marks:
    """Colours of the steps, refined until they know all that can be reached (Weisfeiler-Leman)."""
    marks = {step.id: _hash(step.kind, _line(step.text), *step.commands) for step in workflow.steps}
    for _ in workflow.steps:
        finer = {
            step_id: _hash(mark, *sorted(_condition(e) + marks[e.target] for e in exits[step_id]))
            for step_id, mark in marks.items()
        }
        settled = len(set(finer.values())) == len(set(marks.values()))
        marks = finer
        if settled:
            break
    return marks


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _exits(exits: Sequence[Transition], numbers: Mapping[str, int]) -> list[str]:
    found = sorted((_condition(edge), numbers[edge.target]) for edge in exits)
    return [
        f"   if {condition} -> {number}" if condition else f"   -> {number}"
        for condition, number in found
    ]


def _condition(edge: Transition) -> str:
    return _line(edge.condition).casefold()


def _line(text: str) -> str:
    return " ".join(text.split())
