"""Small flowcharts in a line or two, as gold graphs and as workflows."""

import re

from evaluation.material.logic_rows import GoldGraph
from services.workflow.formats.mermaid import from_mermaid
from services.workflow.model import Citation, Workflow

DOC = "set/page.md"


def chart(*lines: str) -> Workflow:
    return from_mermaid("\n".join(("flowchart TD", *lines)))


def cited(workflow: Workflow) -> Workflow:
    """Each step says a line of its own, the last letters of the alphabet none."""
    steps = tuple(
        step.model_copy(update={"citations": (_line(step.id),)}) if step.id < "X" else step
        for step in workflow.steps
    )
    return workflow.model_copy(update={"steps": steps})


def drawn(*lines: str, core: str = "") -> GoldGraph:
    """The chart as a drawing; the ids in `core` are its core steps."""
    workflow = cited(chart(*lines))
    nodes = [
        {
            "id": step.id,
            "label": step.text,
            "kind": step.kind.value,
            "core": step.id in core,
            "lines": [(c.start_line, c.end_line) for c in step.citations],
        }
        for step in workflow.steps
    ]
    edges = [
        {"from": edge.source, "to": edge.target, "label": edge.condition}
        for edge in workflow.transitions
    ]
    return GoldGraph.model_validate({"nodes": nodes, "edges": edges})


def _line(id_: str) -> Citation:
    number = ord(re.sub(r"\W", "", id_)[0])
    return Citation(document_id=DOC, start_line=number, end_line=number)
