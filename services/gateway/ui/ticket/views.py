"""A workflow as the page shows it: steps with numbers and exits, and a drawing."""

from dataclasses import dataclass
from functools import lru_cache

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


@lru_cache(maxsize=64)
def drawing(workflow: Workflow) -> Markup:
    """The workflow drawn, each step a link to its place in the list.

    The drawing's writer escapes every text in it.
    """
    numbers = {step.id: number for number, step in enumerate(workflow.steps, start=1)}
    return Markup(to_svg(workflow, link=lambda step_id: f"#step-{numbers[step_id]}"))  # noqa: S704
