"""What of a workflow is to be done next, and what is left aside, by what was done of it so far.

The boxes of a checklist may be ticked in any order. How it ended is asked behind the last open one.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from services.workflow.graph import reachable, successors
from services.workflow.model import Step, StepKind, Transition, Workflow


@dataclass(frozen=True)
class Done:
    """What was done so far, by step id; ids that the workflow does not have are ignored."""

    done: Collection[str] = ()
    skipped: Collection[str] = ()
    followed: Mapping[str, str] = field(default_factory=dict)
    """Of each decision that was taken: the condition of the exit that was followed."""
    not_applicable: Collection[str] = ()
    """Steps whose condition does not hold: done right, though nothing was done."""
    closed: Collection[str] = ()
    """Boxes of a checklist in sections that the ticket does not ask for."""

    @property
    def marked(self) -> frozenset[str]:
        """Steps that somebody did, left out or found to be under a condition that does not hold."""
        return frozenset((*self.done, *self.skipped, *self.not_applicable))


@dataclass(frozen=True)
class Path:
    """How far the work on a workflow is."""

    next: str | None
    """The step to do next; None where nothing is left."""
    again: bool
    """Whether that step was done before, and a loop leads back to it."""
    left_aside: frozenset[str]
    """Steps that only branches lead to which were not followed."""
    done: int
    """Steps that somebody did, or whose condition does not hold; taken decisions included."""
    settled: int
    """Decisions that were answered before: nobody has to take them, and nobody did."""
    skipped: int
    total: int
    """Of a checklist its boxes: those that stand open, and those that were handled all the same."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.next is None


def path_of(workflow: Workflow, so_far: Done) -> Path:
    """How far the work is.

    Behind a decision that was answered before the way goes on, unless another branch was followed;
    it does not count as done. A branch that leads back to its own decision leaves nothing aside: it
    will be asked again.
    """
    if workflow.is_checklist:
        return _path_of_checklist(workflow, so_far)
    followed = _followed(workflow, so_far)
    left = left_aside(workflow, so_far)
    handled = (so_far.marked | followed.keys()) & workflow.by_id.keys()
    next_, again = _next(workflow, handled, followed, left)
    skipped = len(handled & set(so_far.skipped) - set(so_far.done))
    settled = len(handled - so_far.marked - so_far.followed.keys())
    return Path(
        next=next_,
        again=again,
        left_aside=left,
        done=len(handled) - skipped - settled,
        settled=settled,
        skipped=skipped,
        total=len(workflow.steps),
    )


def _path_of_checklist(workflow: Workflow, so_far: Done) -> Path:
    """Return how far the boxes are ticked; once it is said how it ended, nothing is next."""
    left = left_aside(workflow, so_far)
    handled = so_far.marked | _followed(workflow, so_far).keys()
    boxes = [s.id for s in workflow.steps if is_box(s)]
    counted = {id_ for id_ in boxes if id_ in handled or id_ not in so_far.closed}
    endings = [s.id for s in workflow.of_kind(StepKind.DECISION) if not is_box(s)]
    waiting = [id_ for id_ in boxes if id_ in counted and id_ not in handled and id_ not in left]
    is_ended = bool(endings) and handled.issuperset(endings)
    skipped = len(counted & set(so_far.skipped) - set(so_far.done))
    return Path(
        next=None if is_ended else next(iter((*waiting, *endings)), None),
        again=False,
        left_aside=left,
        done=len(counted & handled) - skipped,
        settled=0,
        skipped=skipped,
        total=len(counted),
    )


def is_box(step: Step) -> bool:
    """Whether a step of a checklist is there to be ticked off: how it ended is not."""
    return step.kind is not StepKind.TERMINAL and not step.implied


def left_aside(workflow: Workflow, so_far: Done) -> frozenset[str]:
    """Steps that only branches lead to which were not followed; of a checklist boxes alone."""
    if not workflow.steps:
        return frozenset()
    followed = _followed(workflow, so_far)
    start, arrows = workflow.steps[0].id, successors(workflow.transitions)
    kept = [edge for edge in workflow.transitions if _is_open(edge, followed, arrows)]
    left = reachable(start, arrows) - reachable(start, successors(kept))
    if workflow.is_checklist:
        left = {id_ for id_ in left if is_box(workflow.by_id[id_])}
    return frozenset(left)


def core_steps(workflow: Workflow, so_far: Done) -> frozenset[str]:
    """The steps without which the workflow was not carried out: the actions on its path.

    Decisions and ends are no actions, and what other branches lead to was not called for, nor what
    has a condition that does not hold. Of a checklist nobody knows which boxes the case calls for:
    those count that somebody did or left out, and what merely stays open does not.
    """
    actions = {step.id for step in workflow.of_kind(StepKind.PROCESS)}
    if workflow.is_checklist:
        actions &= {*so_far.done, *so_far.skipped}
    return frozenset(actions - left_aside(workflow, so_far) - set(so_far.not_applicable))


def _followed(workflow: Workflow, so_far: Done) -> dict[str, Transition]:
    """The exit that was followed, of each step that has several and where one was."""
    found: dict[str, Transition] = {}
    for step in workflow.steps:
        exits = workflow.exits(step.id)
        condition = so_far.followed.get(step.id, step.settled)
        chosen = next((edge for edge in exits if edge.condition == condition), None)
        if len(exits) > 1 and chosen is not None and (condition or step.id in so_far.followed):
            found[step.id] = chosen
    return found


def _is_open(
    edge: Transition, followed: Mapping[str, Transition], arrows: Mapping[str, Collection[str]]
) -> bool:
    """Whether work may still come along this edge."""
    chosen = followed.get(edge.source)
    return chosen is None or chosen == edge or edge.source in reachable(chosen.target, arrows)


def _next(
    workflow: Workflow,
    handled: Collection[str],
    followed: Mapping[str, Transition],
    left: Collection[str],
) -> tuple[str | None, bool]:
    """The first open step on the way, else the first in reading order; whether it comes again."""
    seen: set[str] = set()
    step_id = workflow.steps[0].id if workflow.steps else None
    while step_id is not None and step_id in handled:
        if step_id in seen:
            return step_id, True
        seen.add(step_id)
        step_id = _after(workflow, step_id, followed)
    if step_id is None:
        is_ended = any(not workflow.exits(each) for each in seen)
        waiting = (s.id for s in workflow.steps if s.id not in handled and s.id not in left)
        step_id = None if is_ended else next(waiting, None)
    return step_id, False


def _after(workflow: Workflow, step_id: str, followed: Mapping[str, Transition]) -> str | None:
    """Where the way goes on; None at an end, and where nobody said which exit was followed."""
    if step_id in followed:
        return followed[step_id].target
    exits = workflow.exits(step_id)
    return exits[0].target if len(exits) == 1 else None
