"""Which steps stand under which answer, and what stands next to what."""

from collections.abc import Mapping

from services.workflow.graph import reachable, successors
from services.workflow.model import Step, StepKind, Transition, Workflow

Behind = Mapping[Transition, frozenset[str]]


def behind(workflow: Workflow) -> Behind:
    """For each answer of a decision the steps that are reached through it alone."""
    start = workflow.steps[0].id
    everything = reachable(start, successors(workflow.transitions))
    steps_by_answer: dict[Transition, frozenset[str]] = {}
    for edge in workflow.transitions:
        if edge.condition and workflow.by_id[edge.source].kind is StepKind.DECISION:
            others = [other for other in workflow.transitions if other != edge]
            steps_by_answer[edge] = frozenset(everything - reachable(start, successors(others)))
    return {edge: inside for edge, inside in steps_by_answer.items() if inside}


def gate_of(step_id: str, gates: Behind) -> Transition | None:
    """The answer that stands next before the step; None for a step of the common path."""
    around = [edge for edge, inside in gates.items() if step_id in inside]
    return min(around, key=lambda edge: len(gates[edge])) if around else None


def next_after(workflow: Workflow, step_id: str) -> Step | None:
    """What stands next on the page and is no end."""
    place = next(n for n, step in enumerate(workflow.steps) if step.id == step_id)
    later = workflow.steps[place + 1 :]
    return next((step for step in later if step.kind is not StepKind.TERMINAL), None)


def plain_end(workflow: Workflow) -> Step | None:
    """An end that no line says and that hands over to nobody: `Resolved`."""
    ends = workflow.of_kind(StepKind.TERMINAL)
    return next((end for end in ends if not end.citations and not hands_over(end)), None)


def hands_over(step: Step) -> bool:
    """Whether the step gives the work to somebody else."""
    text = step.text.casefold()
    return any(words in text for words in _HANDING_OVER)


_HANDING_OVER = (
    "escalat",
    "support case",
    "support ticket",
    "hand over",
    "open a case",
    "open a ticket",
    "contact support",
    "contact the support",
    "call support",
)
