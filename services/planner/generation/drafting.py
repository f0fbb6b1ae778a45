"""A model's program as a workflow of the documents, and what speaks against it."""

from collections.abc import Iterator, Mapping, Sequence

from services.planner.generation.shown import Shown
from services.procedure.checking.walker import PathFinding, findings_of
from services.procedure.lowering import lower
from services.procedure.model import End, Procedure
from services.workflow.lint import Finding, Severity, lint
from services.workflow.model import Step, Workflow
from services.workflow.plain import plain


def drafted(procedure: Procedure, shown: Shown) -> Workflow:
    """Its graph, citing the documents; an end in words of its own is not implied by the others."""
    workflow = lower(procedure, "shown")
    ends = {n.id for n in procedure.walk() if isinstance(n, End) and n.text}
    steps = tuple(_of_documents(step, shown, ends) for step in workflow.steps)
    return workflow.model_copy(update={"steps": steps})


def _of_documents(step: Step, shown: Shown, ends: set[str]) -> Step:
    """Without the node: it is none of the page's own reading."""
    return step.model_copy(
        update={
            "text": plain(step.text),
            "citations": shown.cited(step.citations),
            "implied": step.implied and step.node not in ends,
            "node": "",
        }
    )


def findings_for(
    procedures: Sequence[Procedure], shown: Shown, labels: Mapping[str, str], most_steps: int
) -> list[PathFinding]:
    """What goes back to the model: beside the walker's findings, what makes it no candidate."""
    found = findings_of(procedures, shown.text, partly=True)
    if len(procedures) > 1:
        found.append(PathFinding("expected one procedure, the one for this ticket"))
    for procedure in procedures:
        found += map(PathFinding, faults(drafted(procedure, shown), labels, most_steps))
    return found


def faults(workflow: Workflow, labels: Mapping[str, str], most_steps: int) -> Iterator[str]:
    """Why the workflow is no candidate."""
    if len(workflow.steps) > most_steps:
        yield f"at most {most_steps} steps and questions, got {len(workflow.steps)}"
    if not all(step.text for step in workflow.steps):
        yield "a step says nothing"
    yield from (f.message for f in lint(workflow, bindings=labels) if _is_unsound(f))


def _is_unsound(finding: Finding) -> bool:
    """A page may tell to do something dangerous at once; a model may not."""
    return finding.severity is Severity.ERROR or finding.check == "danger_without_check"
