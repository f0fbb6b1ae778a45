"""Differences between two versions of a workflow, step by step and in words."""

from collections.abc import Iterator
from enum import StrEnum

from services.kit.value import Value
from services.workflow.model import Step, Workflow


class ChangeKind(StrEnum):
    """Kind of a change to a step."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class StepChange(Value):
    """A step that differs between two versions."""

    step: str
    """Id of the step."""
    kind: ChangeKind
    text: str
    """Current text; the former text if the step was removed."""
    words: tuple[str, ...] = ()
    """Descriptions of the differences of a changed step."""


def step_changes(base: Workflow, now: Workflow) -> tuple[StepChange, ...]:
    """List added and changed steps in reading order, then removed ones."""
    changes = []
    for step in now.steps:
        kind, words = ChangeKind.ADDED, tuple[str, ...]()
        if before := base.by_id.get(step.id):
            kind = ChangeKind.CHANGED
            words = (*_differences(before, step), *_branches(base, now, step.id))
        if words or kind is ChangeKind.ADDED:
            changes.append(StepChange(step=step.id, kind=kind, text=step.text, words=words))
    changes += [
        StepChange(step=step.id, kind=ChangeKind.REMOVED, text=step.text)
        for step in base.steps
        if step.id not in now.by_id
    ]
    return tuple(changes)


def _differences(before: Step, now: Step) -> Iterator[str]:
    if before.text != now.text:
        yield f"text was \u201c{before.text}\u201d"
    for name, old, new in (
        ("command", before.commands, now.commands),
        ("note", before.notes, now.notes),
    ):
        yield from (f"{name} removed: {each}" for each in old if each not in new)
        yield from (f"{name} added: {each}" for each in new if each not in old)
        if old != new and set(old) == set(new):
            yield f"{name}s in another order"
    if before.citations and not now.citations:
        yield "no longer said by the lines it came from"


def _branches(base: Workflow, now: Workflow, step_id: str) -> Iterator[str]:
    """Describe exits that differ, other than those that now bypass removed or new steps."""
    before, after = base.exits(step_id), now.exits(step_id)
    if len(before) != len(after):
        yield f"{len(after)} branches instead of {len(before)}"
        return
    for old, new in zip(before, after, strict=True):
        if old.condition != new.condition:
            yield f"branch \u201c{old.condition}\u201d is now \u201c{new.condition}\u201d"
        if old.target != new.target and old.target in now.by_id and new.target in base.by_id:
            name = f"branch \u201c{new.condition}\u201d" if new.condition else "it"
            target, former = now.by_id[new.target].text, base.by_id[old.target].text
            yield f"{name} leads to \u201c{target}\u201d, before to \u201c{former}\u201d"
