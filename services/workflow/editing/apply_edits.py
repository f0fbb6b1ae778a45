"""Application of a person's edits to a workflow; refused if it could not be followed any more."""

from collections.abc import Callable, Iterable

from services.kit.errors import InvalidInputError
from services.workflow.editing.edits import AddStep, ChangeBranch, ChangeStep, Edit, RemoveStep
from services.workflow.lint import STRUCTURE_CHECKS
from services.workflow.model import Step, StepKind, Transition, Workflow

CitationCheck = Callable[[Step], bool]
"""Check that the lines a step cites say what the step says."""
NewId = Callable[[], str]


class UnusableEditError(InvalidInputError):
    """The edit names a step or branch that does not exist, or breaks the workflow's structure."""


def apply_edits(
    workflow: Workflow, edits: Iterable[Edit], *, new_id: NewId, is_supported: CitationCheck
) -> Workflow:
    """Apply the edits in their order.

    A reworded step keeps its citations only if their lines still say it. Structural errors that the
    workflow has already may stay.

    Raises:
        UnusableEditError: A step or branch does not exist, or the edit breaks the structure.
    """
    now = workflow
    for edit in edits:
        match edit:
            case ChangeStep():
                now = _with_step(now, edit, is_supported)
            case ChangeBranch():
                now = _with_branch(now, edit)
            case AddStep():
                now = _with_new_step(now, edit, new_id())
            case RemoveStep():
                now = _without_step(now, edit.step)
    existing = _structure_errors(workflow)
    new = [message for place, message in _structure_errors(now).items() if place not in existing]
    if new:
        raise UnusableEditError("; ".join(new))
    return now


def _with_step(workflow: Workflow, edit: ChangeStep, is_supported: CitationCheck) -> Workflow:
    step = _step(workflow, edit.step)
    fields = edit.model_dump(include={"text", "commands", "notes"}, exclude_none=True)
    changed = step.model_copy(update=fields)
    if changed == step:
        return workflow
    if (changed.text, changed.commands) != (step.text, step.commands):
        changed = changed.model_copy(update={"doubt": "", "chance": None, "implied": False})
        if changed.citations and not is_supported(changed):
            changed = changed.model_copy(update={"citations": ()})
    steps = tuple(changed if each.id == step.id else each for each in workflow.steps)
    return workflow.model_copy(update={"steps": steps})


def _with_branch(workflow: Workflow, edit: ChangeBranch) -> Workflow:
    exit_ = _exit(workflow, edit.step, edit.condition)
    condition = exit_.condition if edit.new_condition is None else edit.new_condition
    target = edit.new_target or exit_.target
    _step(workflow, target)
    new = Transition(source=exit_.source, target=target, condition=condition)
    edges = tuple(new if each == exit_ else each for each in workflow.transitions)
    return workflow.model_copy(update={"transitions": edges})


def _with_new_step(workflow: Workflow, edit: AddStep, step_id: str) -> Workflow:
    """Add the step after the other one in reading order, or before the target of its branch."""
    after = _step(workflow, edit.after)
    exit_ = _exit(workflow, after.id, edit.condition)
    step = Step(
        id=step_id,
        kind=StepKind.PROCESS,
        text=edit.text,
        commands=edit.commands,
        notes=edit.notes,
    )
    place = workflow.steps.index(after) + 1
    if len(workflow.exits(after.id)) > 1:
        target = workflow.steps.index(workflow.by_id[exit_.target])
        place = max(place, target)
    steps = (*workflow.steps[:place], step, *workflow.steps[place:])
    edges = list(workflow.transitions)
    at = edges.index(exit_)
    edges[at : at + 1] = [
        exit_.model_copy(update={"target": step_id}),
        Transition(source=step_id, target=exit_.target),
    ]
    return workflow.model_copy(update={"steps": steps, "transitions": tuple(edges)})


def _without_step(workflow: Workflow, step_id: str) -> Workflow:
    step = _step(workflow, step_id)
    exits = workflow.exits(step.id)
    if len(exits) > 1:
        raise UnusableEditError(
            f"{step.text!r} has {len(exits)} branches: lead what comes before it elsewhere first"
        )
    target = exits[0].target if exits else ""
    if target == step.id:
        raise UnusableEditError(f"{step.text!r} leads only to itself: give it another target first")
    edges = (
        edge.model_copy(update={"target": target}) if edge.target == step.id else edge
        for edge in workflow.transitions
        if edge.source != step.id and (target or edge.target != step.id)
    )
    steps = [each for each in workflow.steps if each.id != step.id]
    if target and workflow.steps[0].id == step.id:
        steps.sort(key=lambda each: each.id != target)
    update = {"steps": tuple(steps), "transitions": tuple(dict.fromkeys(edges))}
    return workflow.model_copy(update=update)


def _step(workflow: Workflow, step_id: str) -> Step:
    step = workflow.by_id.get(step_id)
    if step is None:
        raise UnusableEditError(f"the workflow has no step {step_id[:60]!r}")
    return step


def _exit(workflow: Workflow, step_id: str, condition: str) -> Transition:
    """Return the exit with this condition; a step's only exit matches any condition."""
    step = _step(workflow, step_id)
    exits = workflow.exits(step_id)
    matches = exits if len(exits) == 1 else [e for e in exits if e.condition == condition]
    if not matches:
        conditions = ", ".join(repr(edge.condition) for edge in exits) or "none"
        raise UnusableEditError(
            f"{step.text!r} has no branch {condition[:60]!r}; its branches: {conditions}"
        )
    return matches[0]


def _structure_errors(workflow: Workflow) -> dict[tuple[str, str], str]:
    """Return structural errors of the workflow by check and step."""
    issues = (finding for check in STRUCTURE_CHECKS for finding in check(workflow, {}))
    return {(each.check, each.step_id): each.message for each in issues}
