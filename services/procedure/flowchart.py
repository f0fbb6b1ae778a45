"""A program as the flowchart that it becomes, in lines that its writer can check."""

from services.procedure.lowering import lower
from services.procedure.model import Procedure
from services.workflow.model import Step, Workflow


def drawn(procedure: Procedure) -> str:
    """One step a line: its lines of the page, its text, and where each answer leads."""
    workflow = lower(procedure, "page")
    return "\n".join(_line(workflow, step) for step in workflow.steps)


def _line(workflow: Workflow, step: Step) -> str:
    exits = workflow.exits(step.id)
    leads = ", ".join(f"{e.condition}: {e.target}" if e.condition else e.target for e in exits)
    lines = ", ".join(f"{cite.start_line}-{cite.end_line}" for cite in step.citations)
    said = f" (lines {lines})" if lines else ""
    return f"{step.id} {step.text}{said}" + (f" -> {leads}" if leads else " [end]")
