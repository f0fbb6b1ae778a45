"""Progress through a workflow: the next step and the steps left aside, from what was done so far.

The boxes of a checklist may be ticked in any order; its outcome is asked after the last open one.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from services.workflow.graph import reachable, successors
from services.workflow.model import Step, StepKind, Transition, Workflow


@dataclass(frozen=True)
class MarkedSteps:
    """Steps marked so far, by id; ids that the workflow does not have are ignored."""

    done: Collection[str] = ()
    skipped: Collection[str] = ()
    followed: Mapping[str, str] = field(default_factory=dict)
    """Condition of the exit that was followed, for each decision taken."""
    not_applicable: Collection[str] = ()
    """Steps whose condition does not hold: complete, though nothing was done."""
    closed: Collection[str] = ()
    """Boxes of a checklist in sections that the ticket does not ask for."""

    @property
    def marked(self) -> frozenset[str]:
        """Steps that were done, skipped, or not applicable."""
        return frozenset((*self.done, *self.skipped, *self.not_applicable))


@dataclass(frozen=True)
class WorkflowProgress:
    """Progress of the work on a workflow."""

    next: str | None
    """The step to do next; None if nothing is left."""
    again: bool
    """True if that step was done before and a loop leads back to it."""
    left_aside: frozenset[str]
    """Steps that only branches not followed lead to."""
    done: int
    """Number of steps that were done or not applicable; taken decisions included."""
    settled: int
    """Number of decisions answered in advance: nobody has to take them, and nobody did."""
    skipped: int
    total: int
    """Number of steps; in a checklist the open boxes, and those handled all the same."""

    @property
    def is_over(self) -> bool:
        """True if nothing is left to do."""
        return self.next is None


def progress_of(workflow: Workflow, so_far: MarkedSteps) -> WorkflowProgress:
    """Compute the progress of the work.

    Behind a decision that was answered before the way goes on, unless another branch was followed;
    it does not count as done. A branch that leads back to its own decision leaves nothing aside: it
    will be asked again.
    """
    if workflow.is_checklist:
        return _checklist_progress(workflow, so_far)
    followed = _chosen_exits(workflow, so_far)
    left = left_aside(workflow, so_far)
    handled = (so_far.marked | followed.keys()) & workflow.by_id.keys()
    next_, again = _next_step(workflow, handled, followed, left)
    skipped = len(handled & set(so_far.skipped) - set(so_far.done))
    settled = len(handled - so_far.marked - so_far.followed.keys())
    return WorkflowProgress(
        next=next_,
        again=again,
        left_aside=left,
        done=len(handled) - skipped - settled,
        settled=settled,
        skipped=skipped,
        total=len(workflow.steps),
    )


def _checklist_progress(workflow: Workflow, so_far: MarkedSteps) -> WorkflowProgress:
    """Compute the progress of the boxes; once the outcome is recorded, nothing is next."""
    left = left_aside(workflow, so_far)
    handled = so_far.marked | _chosen_exits(workflow, so_far).keys()
    boxes = [s.id for s in workflow.steps if is_box(s)]
    counted = {id_ for id_ in boxes if id_ in handled or id_ not in so_far.closed}
    endings = [s.id for s in workflow.of_kind(StepKind.DECISION) if not is_box(s)]
    waiting = [id_ for id_ in boxes if id_ in counted and id_ not in handled and id_ not in left]
    is_ended = bool(endings) and handled.issuperset(endings)
    skipped = len(counted & set(so_far.skipped) - set(so_far.done))
    return WorkflowProgress(
        next=None if is_ended else next(iter((*waiting, *endings)), None),
        again=False,
        left_aside=left,
        done=len(counted & handled) - skipped,
        settled=0,
        skipped=skipped,
        total=len(counted),
    )


def is_box(step: Step) -> bool:
    """Return True if a step of a checklist is to be ticked off, unlike the outcome question."""
    return step.kind is not StepKind.TERMINAL and not step.implied


def left_aside(workflow: Workflow, so_far: MarkedSteps) -> frozenset[str]:
    """Return the steps that only branches not followed lead to; in a checklist only boxes."""
    if not workflow.steps:
        return frozenset()
    followed = _chosen_exits(workflow, so_far)
    start, arrows = workflow.steps[0].id, successors(workflow.transitions)
    still_open = [
        edge
        for edge in workflow.transitions
        if (chosen := followed.get(edge.source)) is None
        or chosen == edge
        or edge.source in reachable(chosen.target, arrows)
    ]
    left = reachable(start, arrows) - reachable(start, successors(still_open))
    if workflow.is_checklist:
        left = {id_ for id_ in left if is_box(workflow.by_id[id_])}
    return frozenset(left)


def core_steps(workflow: Workflow, so_far: MarkedSteps) -> frozenset[str]:
    """Return the steps needed to carry the workflow out: the actions on its path.

    Decisions and ends are no actions; steps on other branches were not called for, nor those whose
    condition does not hold. Nobody knows which boxes of a checklist the case calls for: boxes count
    if they were done or skipped, and those that just stay open do not.
    """
    actions = {step.id for step in workflow.of_kind(StepKind.PROCESS)}
    if workflow.is_checklist:
        actions &= {*so_far.done, *so_far.skipped}
    return frozenset(actions - left_aside(workflow, so_far) - set(so_far.not_applicable))


def _chosen_exits(workflow: Workflow, so_far: MarkedSteps) -> dict[str, Transition]:
    """Return the followed exit of each step that has several and where one was followed."""
    chosen_exits: dict[str, Transition] = {}
    for step in workflow.steps:
        exits = workflow.exits(step.id)
        condition = so_far.followed.get(step.id, step.settled)
        chosen = next((edge for edge in exits if edge.condition == condition), None)
        if len(exits) > 1 and chosen is not None and (condition or step.id in so_far.followed):
            chosen_exits[step.id] = chosen
    return chosen_exits


def _next_step(
    workflow: Workflow,
    handled: Collection[str],
    followed: Mapping[str, Transition],
    left: Collection[str],
) -> tuple[str | None, bool]:
    """Return the first open step on the way, else in reading order, and if a loop repeats it.

    The way ends where it is unknown which exit was followed.
    """
    seen: set[str] = set()
    step_id = workflow.steps[0].id if workflow.steps else None
    while step_id is not None and step_id in handled:
        if step_id in seen:
            return step_id, True
        seen.add(step_id)
        exits = [followed[step_id]] if step_id in followed else workflow.exits(step_id)
        step_id = exits[0].target if len(exits) == 1 else None
    if step_id is None:
        is_ended = any(not workflow.exits(each) for each in seen)
        waiting = (s.id for s in workflow.steps if s.id not in handled and s.id not in left)
        step_id = None if is_ended else next(waiting, None)
    return step_id, False
