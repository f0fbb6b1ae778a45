"""Where what was said of the steps of one workflow belongs in another one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.contracts.adoption import LeftBehind, LeftKind, StepState, StepWork, WhyLeft
from services.gateway.adoption.by_lines import box_of, step_in_box
from services.gateway.adoption.told import StepTold, snapshot_by_step
from services.procedure.checklist.places import has_block
from services.workflow.model import Workflow


@dataclass(frozen=True)
class Said:
    """What was done with one step of one candidate, and said of it."""

    work: StepWork
    told: StepTold
    """What the step said then."""
    candidate_id: str
    source_step: str = ""
    """The id of its step there, once it stands under a step of another workflow."""

    @property
    def at(self) -> float:
        """When the last of it was said."""
        times = (self.work.marked_at, self.work.judged_at)
        return max((each.timestamp() for each in times if each), default=0.0)

    def left(self, reason: WhyLeft, step: str = "") -> LeftBehind:
        """The same as it is listed; `step` says the same now."""
        return LeftBehind(
            kind=LeftKind.STEP,
            reason=reason,
            workflow_id=self.candidate_id,
            text=self.told.text,
            commands=self.told.commands,
            said=self.work,
            step=step,
        )


@dataclass(frozen=True)
class Placing:
    """What stands under which step of a workflow, and what under none."""

    under: Mapping[str, Said]
    left: tuple[LeftBehind, ...]
    own: tuple[Said, ...]
    """All that was said of the workflow's line, whatever its steps say by now."""


def place(own: Sequence[Said], earlier: Sequence[Said], workflow: Workflow) -> Placing:
    """Put what was said of the workflow's own line, and on earlier walks, under its steps.

    Only where a step says the same, word for word, and has the branch that was followed. A box of
    a checklist keeps what was said of its block, whatever else of the page has changed; between a
    checklist and the workflow of a reading the cited lines decide. What was said of the line itself
    stands before what is carried over, and of that the latest.
    """
    steps = snapshot_by_step(workflow)
    under: dict[str, Said] = {}
    left: list[LeftBehind] = []
    for said in own:
        step = steps.get(said.work.step)
        is_same = step is not None and said.told.says_same(step)
        if is_same and _has_branch(said, workflow, said.work.step):
            under[said.work.step] = said
        elif not said.work.is_blank:
            left.append(said.left(WhyLeft.CHANGED if step else WhyLeft.GONE))
    for said in sorted(earlier, key=lambda each: each.at, reverse=True):
        if said.work.is_blank:
            continue
        step_id = step_of(said.told, workflow, steps)
        reason = _why_not(said, step_id, workflow, steps)
        if reason is None and step_id in under:
            reason = WhyLeft.TWICE
        if reason is not None:
            left.append(said.left(reason, step_id if reason is not WhyLeft.CHANGED else ""))
            continue
        update = {"step": step_id, "carried_from": said.candidate_id}
        carried = said.work.model_copy(update=update)
        under[step_id] = replace(said, work=carried, source_step=said.work.step)
    return Placing(under, tuple(left), tuple(own))


def step_of(told: StepTold, workflow: Workflow, steps: Mapping[str, StepTold]) -> str:
    """The id of the step that says the same; empty where none does, or it cannot be told which."""
    if told.is_box:
        if not workflow.is_checklist:
            return step_in_box(told, workflow)
        boxes = (step_id for step_id, other in steps.items() if told.is_same_box(other))
        return next(boxes, "")
    if workflow.is_checklist and told.lines:
        return box_of(told, workflow)
    alike = [
        step_id for step_id, other in steps.items() if told.says_same(other) and not other.is_box
    ]
    at_place = [step_id for step_id in alike if told.is_at(steps[step_id])]
    found = at_place or alike
    return found[0] if len(found) == 1 else ""


def _why_not(
    said: Said, step_id: str, workflow: Workflow, steps: Mapping[str, StepTold]
) -> WhyLeft | None:
    if not step_id:
        if said.told.is_box and workflow.is_checklist:
            return _why_no_box(said.told, workflow, steps)
        is_there = any(said.told.is_at(other) for other in steps.values())
        return WhyLeft.CHANGED if is_there else WhyLeft.GONE
    if not _has_branch(said, workflow, step_id):
        return WhyLeft.CHANGED
    settled = workflow.by_id[step_id].settled
    is_otherwise = bool(settled and said.work.branch is not None and said.work.branch != settled)
    return WhyLeft.ANSWERED if is_otherwise else None


def _why_no_box(told: StepTold, workflow: Workflow, steps: Mapping[str, StepTold]) -> WhyLeft:
    """Gone where another page is shown, or the block is there and is no step any more."""
    is_box = any(told.is_at(other) for other in steps.values())
    is_of_page = workflow.page is not None and workflow.page.document_id == told.document
    is_changed = is_box or (is_of_page and not has_block(workflow, told.node))
    return WhyLeft.PAGE_CHANGED if is_changed else WhyLeft.GONE


def _has_branch(said: Said, workflow: Workflow, step_id: str) -> bool:
    """Whether the step has the branch that was followed, and no choice where none was."""
    conditions = [edge.condition for edge in workflow.exits(step_id)]
    if said.work.branch is not None:
        return said.work.branch in conditions
    return said.work.state is not StepState.DONE or len(conditions) <= 1
