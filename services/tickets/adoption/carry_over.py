"""Carry-over of feedback: from the steps of one workflow to those of another.

A step is recognised by its snapshot, the text that it had when it was marked. Between a reading's
workflow and its page's checklist the cited lines decide: since line numbers alone say little once
the page has changed, a step and a box must also have a command or words in common.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from services.contracts.adoption import LeftBehind, LeftKind, StepState, StepWork, WhyLeft
from services.kit.value import Value
from services.language.words import tokenise
from services.runbook.checklist.places import code_by_box, has_block
from services.workflow.model import Step, Workflow


class StepSnapshot(Value):
    """Text of a step and its place on the page; kept as JSON."""

    text: str
    commands: tuple[str, ...] = ()
    node: str = ""
    """Node of the page's reading; for a box, the key of its block."""
    document: str = ""
    lines: tuple[tuple[int, int], ...] = ()
    """First and last line of each citation."""
    is_box: bool = False
    """True if it is a box of a checklist."""
    code: str = ""
    """Hash of the code that belongs to a box, its placeholders unfilled; empty if there is none."""

    @classmethod
    def of(cls, step: Step, code: str = "") -> Self:
        """Build the snapshot of a step; `code` is the page's code below a box."""
        return cls(
            text=step.text,
            commands=step.commands,
            node=step.node,
            document=step.citations[0].document_id if step.citations else "",
            lines=step.cited_lines,
            is_box=bool(step.block),
            code=hashlib.sha256(code.encode()).hexdigest()[:16] if code else "",
        )

    def says_same(self, other: Self) -> bool:
        """Return True if both have the same text and commands, word for word."""
        return (self.text, self.commands) == (other.text, other.commands)

    def is_at(self, other: Self) -> bool:
        """Return True if both come from the same place of the same page."""
        return bool(self.node) and (self.node, self.document) == (other.node, other.document)

    def is_same_box(self, other: Self) -> bool:
        """Return True if both are one box of one page, with the same code."""
        return self.is_box and other.is_box and self.is_at(other) and self.code == other.code


@dataclass(frozen=True)
class StepFeedback:
    """Work on one step of one candidate, and the judgement of it."""

    work: StepWork
    snapshot: StepSnapshot
    """The step as it read at that time."""
    candidate_id: str
    source_step: str = ""
    """Id of the step in that candidate, once carried over to another workflow."""

    @property
    def at(self) -> float:
        """Time of the latest mark or judgement, in seconds; 0 if there is none."""
        times = (self.work.marked_at, self.work.judged_at)
        return max((each.timestamp() for each in times if each), default=0.0)

    def as_left_behind(self, reason: WhyLeft, step: str = "") -> LeftBehind:
        """Return the feedback as it is listed; `step` is the step that says the same now."""
        return LeftBehind(
            kind=LeftKind.STEP,
            reason=reason,
            workflow_id=self.candidate_id,
            text=self.snapshot.text,
            commands=self.snapshot.commands,
            said=self.work,
            step=step,
        )


@dataclass(frozen=True)
class FeedbackPlacement:
    """Feedback by the step of a workflow that shows it, and the rest."""

    by_step: Mapping[str, StepFeedback]
    left_behind: tuple[LeftBehind, ...]
    own: tuple[StepFeedback, ...]
    """All feedback on the workflow's own lineage, whatever its steps say by now."""


def place_feedback(
    own: Sequence[StepFeedback], earlier: Sequence[StepFeedback], workflow: Workflow
) -> FeedbackPlacement:
    """Place the feedback of the workflow's own lineage and of earlier walks on its steps.

    Feedback goes only to a step of the same text, word for word, that has the branch followed. A
    box of a checklist keeps the feedback of its block, whatever else of the page has changed;
    between a checklist and the workflow of a reading the cited lines decide. Feedback of the own
    lineage wins over what is carried over, and of that the latest.
    """
    steps = snapshot_by_step(workflow)
    by_step: dict[str, StepFeedback] = {}
    left_behind: list[LeftBehind] = []
    for feedback in own:
        step = steps.get(feedback.work.step)
        is_same = step is not None and feedback.snapshot.says_same(step)
        if is_same and _has_branch(feedback, workflow, feedback.work.step):
            by_step[feedback.work.step] = feedback
        elif not feedback.work.is_blank:
            left_behind.append(feedback.as_left_behind(WhyLeft.CHANGED if step else WhyLeft.GONE))
    for feedback in sorted(earlier, key=lambda each: each.at, reverse=True):
        if feedback.work.is_blank:
            continue
        step_id = find_matching_step(feedback.snapshot, workflow, steps)
        reason = _reason_left(feedback, step_id, workflow, steps)
        if reason is None and step_id in by_step:
            reason = WhyLeft.TWICE
        if reason is not None:
            left_behind.append(
                feedback.as_left_behind(reason, step_id if reason is not WhyLeft.CHANGED else "")
            )
            continue
        update = {"step": step_id, "carried_from": feedback.candidate_id}
        carried = feedback.work.model_copy(update=update)
        by_step[step_id] = replace(feedback, work=carried, source_step=feedback.work.step)
    return FeedbackPlacement(by_step, tuple(left_behind), tuple(own))


def find_matching_step(
    snapshot: StepSnapshot, workflow: Workflow, steps: Mapping[str, StepSnapshot]
) -> str:
    """Return the id of the step that says the same; empty if none does, or several do."""
    if snapshot.is_box:
        if not workflow.is_checklist:
            return find_step(snapshot, workflow)
        boxes = (step_id for step_id, other in steps.items() if snapshot.is_same_box(other))
        return next(boxes, "")
    if workflow.is_checklist and snapshot.lines:
        return find_box(snapshot, workflow)
    alike = [
        step_id
        for step_id, other in steps.items()
        if snapshot.says_same(other) and not other.is_box
    ]
    at_place = [step_id for step_id in alike if snapshot.is_at(steps[step_id])]
    matches = at_place or alike
    return matches[0] if len(matches) == 1 else ""


def _reason_left(
    feedback: StepFeedback, step_id: str, workflow: Workflow, steps: Mapping[str, StepSnapshot]
) -> WhyLeft | None:
    if not step_id:
        if feedback.snapshot.is_box and workflow.is_checklist:
            is_box = any(feedback.snapshot.is_at(other) for other in steps.values())
            is_of_page = (
                workflow.page is not None
                and workflow.page.document_id == feedback.snapshot.document
            )
            is_changed = is_box or (is_of_page and not has_block(workflow, feedback.snapshot.node))
            return WhyLeft.PAGE_CHANGED if is_changed else WhyLeft.GONE
        is_there = any(feedback.snapshot.is_at(other) for other in steps.values())
        return WhyLeft.CHANGED if is_there else WhyLeft.GONE
    if not _has_branch(feedback, workflow, step_id):
        return WhyLeft.CHANGED
    settled = workflow.by_id[step_id].settled
    is_otherwise = bool(
        settled and feedback.work.branch is not None and feedback.work.branch != settled
    )
    return WhyLeft.ANSWERED if is_otherwise else None


def _has_branch(feedback: StepFeedback, workflow: Workflow, step_id: str) -> bool:
    """Return True if the step has the branch followed, and no choice if none was followed."""
    conditions = [edge.condition for edge in workflow.exits(step_id)]
    if feedback.work.branch is not None:
        return feedback.work.branch in conditions
    return feedback.work.state is not StepState.DONE or len(conditions) <= 1


def snapshot_by_step(workflow: Workflow) -> Mapping[str, StepSnapshot]:
    """Return the snapshot of each step, by its id."""
    code = code_by_box(workflow)
    return {step.id: StepSnapshot.of(step, code.get(step.id, "")) for step in workflow.steps}


_LEAST_SHARED = 0.5
"""Share of a step's words that must occur in the box."""

_LineRanges = Collection[tuple[int, int]]


def find_box(snapshot: StepSnapshot, workflow: Workflow) -> str:
    """Return the id of the one box that covers all lines of a step; empty if none or several do."""
    boxes = [
        step
        for step in workflow.steps
        if step.block
        and _is_of(step, snapshot.document)
        and _covers(step.cited_lines, snapshot.lines)
    ]
    if len(boxes) != 1:
        return ""
    box = boxes[0]
    words = "\n".join((box.block, box.text, *box.commands))
    return box.id if _overlaps(snapshot.text, words, snapshot.commands, box.commands) else ""


def find_step(snapshot: StepSnapshot, workflow: Workflow) -> str:
    """Return the id of the one step whose lines all lie in a box; empty if none or several do."""
    steps = [
        step
        for step in workflow.steps
        if _is_of(step, snapshot.document) and _covers(snapshot.lines, step.cited_lines)
    ]
    if len(steps) != 1:
        return ""
    step, words = steps[0], "\n".join((snapshot.text, *snapshot.commands))
    return step.id if _overlaps(step.text, words, step.commands, snapshot.commands) else ""


def _overlaps(text: str, words: str, commands: Collection[str], others: Collection[str]) -> bool:
    """Return True if the two share a command, or if `words` contains enough words of `text`."""
    if set(commands) & set(others):
        return True
    wanted = set(tokenise(text))
    return bool(wanted) and len(wanted & set(tokenise(words))) >= _LEAST_SHARED * len(wanted)


def _is_of(step: Step, document: str) -> bool:
    return bool(step.citations) and step.citations[0].document_id == document


def _covers(outer: _LineRanges, inner: _LineRanges) -> bool:
    """Return True if there are inner ranges and each lies within one of the outer ranges."""
    return bool(inner) and all(
        any(begin <= first and last <= end for begin, end in outer) for first, last in inner
    )
