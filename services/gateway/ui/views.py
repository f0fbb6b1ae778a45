"""A workflow as the page shows it: steps with numbers and exits, and a drawing."""

from dataclasses import dataclass

from markupsafe import Markup

from services.workflow.drawing.svg import to_svg
from services.workflow.model import Step, Workflow


@dataclass(frozen=True)
class Exit:
    """Where a step leads."""

    condition: str
    number: int
    text: str


@dataclass(frozen=True)
class NumberedStep:
    """A step with its number in reading order."""

    number: int
    step: Step
    exits: tuple[Exit, ...]
    """Empty where the next step simply follows."""


def numbered_steps(workflow: Workflow) -> list[NumberedStep]:
    """The steps in reading order."""
    numbers = {step.id: number for number, step in enumerate(workflow.steps, start=1)}
    steps = []
    for number, step in enumerate(workflow.steps, start=1):
        exits = tuple(
            Exit(edge.condition, numbers[edge.target], workflow.by_id[edge.target].text)
            for edge in workflow.exits(step.id)
        )
        follows = len(exits) == 1 and not exits[0].condition and exits[0].number == number + 1
        steps.append(NumberedStep(number, step, () if follows else exits))
    return steps


_READERS = {
    "rules": "page read by rules",
    "model": "page read by a model",
    "imported": "reading imported",
    "person": "page read by a person",
}
_STATES = {"approved": "approved", "read": "not checked by a person"}


def reading_told(workflow: Workflow) -> str:
    """Whose reading of the page the workflow follows, and how far that was checked."""
    origin = workflow.provenance
    if origin is None or not origin.reader:
        return ""
    state = _STATES.get(origin.state, origin.state)
    reader = _READERS.get(origin.reader, f"page read by {origin.reader}")
    return f"{reader}, {state}" if state else reader


def drawing(workflow: Workflow) -> Markup:
    """The workflow drawn, each step a link to its place in the list.

    The drawing's writer escapes every text in it.
    """
    numbers = {step.id: number for number, step in enumerate(workflow.steps, start=1)}
    return Markup(to_svg(workflow, link=lambda step_id: f"#step-{numbers[step_id]}"))  # noqa: S704
