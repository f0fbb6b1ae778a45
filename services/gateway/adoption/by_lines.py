"""Marks that go between the workflow of a reading and the checklist of its page: by cited lines.

Numbers of lines alone say little where the page has changed between the two: a step and a box must
also have a command in common, or words.
"""

from collections.abc import Collection

from services.gateway.adoption.told import StepTold
from services.language.words import tokenise
from services.workflow.model import Step, Workflow

_LEAST_SHARED = 0.5
"""Share of a step's words that must stand in the box."""

_Lines = Collection[tuple[int, int]]


def box_of(told: StepTold, workflow: Workflow) -> str:
    """Return the id of the one box that holds all lines of a step; empty where none or two do."""
    boxes = [
        step
        for step in workflow.steps
        if step.block and _is_of(step, told.document) and _hold(step.cited_lines, told.lines)
    ]
    if len(boxes) != 1:
        return ""
    box = boxes[0]
    words = "\n".join((box.block, box.text, *box.commands))
    return box.id if _share(told.text, words, told.commands, box.commands) else ""


def step_in_box(told: StepTold, workflow: Workflow) -> str:
    """Return the id of the one step whose lines all lie in a box; empty where none or two do."""
    steps = [
        step
        for step in workflow.steps
        if _is_of(step, told.document) and _hold(told.lines, step.cited_lines)
    ]
    if len(steps) != 1:
        return ""
    step, words = steps[0], "\n".join((told.text, *told.commands))
    return step.id if _share(step.text, words, step.commands, told.commands) else ""


def _share(text: str, words: str, commands: Collection[str], others: Collection[str]) -> bool:
    """Whether one of the commands is among the others, or enough of a text among the words."""
    if set(commands) & set(others):
        return True
    wanted = set(tokenise(text))
    return bool(wanted) and len(wanted & set(tokenise(words))) >= _LEAST_SHARED * len(wanted)


def _is_of(step: Step, document: str) -> bool:
    return bool(step.citations) and step.citations[0].document_id == document


def _hold(outer: _Lines, inner: _Lines) -> bool:
    """Whether there are inner lines, and all of them lie within the outer ones."""
    return bool(inner) and all(
        any(begin <= first and last <= end for begin, end in outer) for first, last in inner
    )
