"""Steps that were said before."""

from services.grounding.evidence import terms_of
from services.workflow.graph import reachable, successors
from services.workflow.model import Step, StepKind, Workflow

_SAME = 0.85
"""Share of the words of two steps that makes one the double of the other."""
_SAME_AGAIN = 0.7
"""The same for a step and the one right before it: who says nearly the same twice in a row seldom
means two things."""


def doubled(workflow: Workflow) -> list[Step]:
    """Steps that say what an earlier one of their kind said, in reading order; ends may.

    Only what one run can meet twice counts: two branches may ask for the same check.
    """
    steps = [step for step in workflow.steps if step.kind is not StepKind.TERMINAL]
    terms = {step.id: terms_of(step.text) for step in steps}
    arrows = successors(workflow.transitions)
    found: list[Step] = []
    for place, step in enumerate(steps):
        for other in steps[:place]:
            least = _SAME_AGAIN if step.id in arrows.get(other.id, ()) else _SAME
            one, two = terms[step.id], terms[other.id]
            likeness = len(one & two) / max(1, len(one | two))
            is_same = step.kind is other.kind and likeness >= least
            if is_same and step.id in reachable(other.id, arrows):
                found.append(step)
                break
    return found
