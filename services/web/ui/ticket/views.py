"""View of a workflow: steps with numbers, exits and marks, and a drawing."""

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
    """An exit of a step: its condition and the step that it leads to."""

    condition: str
    number: int
    text: str
    followed: bool
    place: int
    """Index among the exits of its step, from 1, which a form sends."""


@dataclass(frozen=True)
class NumberedStep:
    """A step with its number in reading order, and what was done with it."""

    number: int
    step: Step
    exits: tuple[Exit, ...]
    """Exits of the step; empty if the next step simply follows."""
    work: StepWork
    shown: StepShown | None
    key: str
    """Key that is equal on every page with a step of the same text and commands."""

    @property
    def is_choice(self) -> bool:
        """True if a branch has to be chosen at it."""
        return len(self.exits) > 1


def number_steps(workflow: Workflow, work: Work) -> list[NumberedStep]:
    """Return the steps in reading order, with their numbers and marks."""
    numbers, shown = numbers_of(workflow), step_states(workflow, work)
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
        content = "\n".join((step.text, *step.commands))
        alike[content] += 1
        key = f"{content}\n{alike[content]}"
        steps.append(NumberedStep(number, step, exits, done, shown.get(step.id), key))
    return steps


def numbers_of(workflow: Workflow) -> dict[str, int]:
    """Return the numbers of the steps in reading order, from 1, by step id."""
    return {step.id: number for number, step in enumerate(workflow.steps, start=1)}


def names_of(workflow: Workflow) -> dict[str, str]:
    """Return the names of steps for sentences, by id: numbers, or the words of a box."""
    if workflow.is_checklist:
        return {
            step.id: f"“{shorten(step.text, _NAME_CHARACTERS, placeholder='…')}”"
            for step in workflow.steps
        }
    return {step_id: f"step {number}" for step_id, number in numbers_of(workflow).items()}


def describe_findings(stored: StoredWorkflow) -> list[str]:
    """Return the findings of the checks, with names of steps in place of their ids."""
    findings = list(stored.findings)
    for step_id, name in names_of(stored.workflow).items() if findings else ():
        findings = [each.replace(f"step {step_id!r} ", f"{name} ") for each in findings]
    return findings


def step_states(workflow: Workflow, work: Work) -> Mapping[str, StepShown]:
    """Return the state in which each step is drawn, by id; open steps are left out."""
    shown = dict.fromkeys(work.left_aside, StepShown.ASIDE)
    for each in work.steps:
        if each.state is not StepState.OPEN and each.step in workflow.by_id:
            is_done = each.state is StepState.DONE
            shown[each.step] = StepShown.DONE if is_done else StepShown.SKIPPED
    if work.next is not None:
        shown[work.next] = StepShown.NEXT
    return shown


def draw_workflow(workflow: Workflow, work: Work) -> Markup:
    """Draw the workflow, each step a link to its place in the list.

    The drawing's writer escapes every text in it.
    """
    numbers = numbers_of(workflow)
    marks = work.by_step
    steps = tuple(
        step.model_copy(update={"settled": done.branch, "settled_by": f"by {done.marked_by}"})
        if (done := marks.get(step.id)) and done.branch
        else step
        for step in workflow.steps
    )
    followed = workflow.model_copy(update={"steps": steps})
    drawn = to_svg(
        followed,
        link=lambda step_id: f"#step-{numbers[step_id]}",
        shown=step_states(workflow, work),
    )
    return Markup(drawn)  # noqa: S704
