"""What was done of a workflow, line by line, for the team that takes its ticket over."""

from services.contracts.adoption import StepState, StepWork, Work
from services.workflow.model import Step, Workflow
from services.workflow.path import is_box

MOST_STEPS = 30
MOST_CHARACTERS = 300
"""Of a step's words, and of those that somebody wrote at it."""

_LEADS = {
    StepState.OPEN: "Noted at",
    StepState.DONE: "Done:",
    StepState.SKIPPED: "Skipped:",
    StepState.NOT_APPLICABLE: "Did not apply:",
}


def work_done(workflow: Workflow, work: Work, *, without: Step | None = None) -> tuple[str, ...]:
    """Return what was done and noted, in the workflow's order; all but a note `without` a step.

    What somebody wrote goes before mere ticks where there is too much of it.
    """
    marks = work.by_step
    steps = [
        (step, marks[step.id])
        for step in workflow.steps
        if step.id in marks and is_box(step) and _is_marked(marks[step.id])
    ]
    if without is not None:
        steps = [each for each in steps if each[0].id != without.id or each[1].seen]
    written_first = sorted(range(len(steps)), key=lambda at: not _words(steps[at][1]))
    kept = sorted(written_first[:MOST_STEPS])
    rest = len(steps) - len(kept)
    more = [f"{rest} more {'step' if rest == 1 else 'steps'} of it"] if rest else []
    return (*(_line(*steps[at]) for at in kept), *more)


def short(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"


def _is_marked(mark: StepWork) -> bool:
    """Whether somebody did or noted it; a step inside one that does not apply goes unsaid."""
    return not mark.with_step and (mark.state is not StepState.OPEN or bool(mark.seen))


def _line(step: Step, mark: StepWork) -> str:
    words = _words(mark)
    return f"{_LEADS[mark.state]} “{short(step.text)}”{f': {words}' if words else ''}"


def _words(mark: StepWork) -> str:
    """Return what is said at a step: the branch that was followed, why it is skipped, the note."""
    return "; ".join(short(each) for each in (mark.branch, mark.why, mark.seen) if each)
