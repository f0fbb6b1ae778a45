"""A workflow as the page shows it: steps with numbers, exits and marks, and a drawing."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import shorten

from markupsafe import Markup

from services.contracts.adoption import StepState, StepWork, Work
from services.contracts.gateway import StoredWorkflow
from services.workflow.drawing.svg import StepShown, to_svg
from services.workflow.model import Step, Workflow

_NAME_CHARACTERS = 60


@dataclass(frozen=True)
class Exit:
    """Where a step leads."""

    condition: str
    number: int
    text: str
    followed: bool
    place: int
    """Among the exits of its step, from 1: what a form sends."""


@dataclass(frozen=True)
class NumberedStep:
    """A step with its number in reading order, and what was done with it."""

    number: int
    step: Step
    exits: tuple[Exit, ...]
    """Empty where the next step simply follows."""
    work: StepWork
    shown: StepShown | None
    key: str
    """The same on every page that has a step which says the same."""

    @property
    def is_choice(self) -> bool:
        """Whether a branch has to be chosen at it."""
        return len(self.exits) > 1


def numbered_steps(workflow: Workflow, work: Work) -> list[NumberedStep]:
    """The steps in reading order."""
    numbers, shown = numbers_of(workflow), shown_steps(workflow, work)
    marks = work.by_step
    steps = []
    alike: Counter[str] = Counter()
    for step in workflow.steps:
        done = marks.get(step.id, StepWork(step=step.id))
        exits = tuple(
            Exit(
                edge.condition,
                numbers[edge.target],
                workflow.by_id[edge.target].text,
                done.branch == edge.condition,
                place,
            )
            for place, edge in enumerate(workflow.exits(step.id), start=1)
        )
        number = numbers[step.id]
        follows = len(exits) == 1 and not exits[0].condition and exits[0].number == number + 1
        exits = () if follows else exits
        says = "\n".join((step.text, *step.commands))
        alike[says] += 1
        key = f"{says}\n{alike[says]}"
        steps.append(NumberedStep(number, step, exits, done, shown.get(step.id), key))
    return steps


def numbers_of(workflow: Workflow) -> dict[str, int]:
    """Places in reading order from 1, by step id."""
    return {step.id: number for number, step in enumerate(workflow.steps, start=1)}


def names_of(workflow: Workflow) -> dict[str, str]:
    """Return how steps are spoken of, by id: by number, or by their words on a page of its own."""
    if workflow.is_checklist:
        return {
            step.id: f"“{shorten(step.text, _NAME_CHARACTERS, placeholder='…')}”"
            for step in workflow.steps
        }
    return {step_id: f"step {number}" for step_id, number in numbers_of(workflow).items()}


def _shortened(text: str) -> str:
    return shorten(text, _NAME_CHARACTERS, placeholder="…")


def findings_told(stored: StoredWorkflow) -> list[str]:
    """What the checks found, with how steps are spoken of in the place of their ids."""
    told = list(stored.findings)
    for step_id, name in names_of(stored.workflow).items() if told else ():
        told = [each.replace(f"step {step_id!r} ", f"{name} ") for each in told]
    return told


def shown_steps(workflow: Workflow, work: Work) -> Mapping[str, StepShown]:
    """How far each step is; open ones are left out."""
    shown = dict.fromkeys(work.left_aside, StepShown.ASIDE)
    for each in work.steps:
        if each.state is not StepState.OPEN and each.step in workflow.by_id:
            is_done = each.state is StepState.DONE
            shown[each.step] = StepShown.DONE if is_done else StepShown.SKIPPED
    if work.next is not None:
        shown[work.next] = StepShown.NEXT
    return shown


def drawing(workflow: Workflow, work: Work) -> Markup:
    """The workflow drawn, each step a link to its place in the list.

    The drawing's writer escapes every text in it.
    """
    numbers = numbers_of(workflow)
    followed = _with_branches(workflow, work)
    drawn = to_svg(
        followed,
        link=lambda step_id: f"#step-{numbers[step_id]}",
        shown=shown_steps(workflow, work),
    )
    return Markup(drawn)  # noqa: S704


def _with_branches(workflow: Workflow, work: Work) -> Workflow:
    """Branches that were followed, drawn as those are that were known before."""
    marks = work.by_step
    steps = tuple(
        step.model_copy(update={"settled": done.branch, "settled_by": f"by {done.marked_by}"})
        if (done := marks.get(step.id)) and done.branch
        else step
        for step in workflow.steps
    )
    return workflow.model_copy(update={"steps": steps})
