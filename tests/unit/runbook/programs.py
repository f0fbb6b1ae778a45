"""Programs of small pages, and what becomes of them, as lines that a person can read."""

from typing import Any

from services.runbook.lowering import lower
from services.runbook.model import Procedure
from services.workflow.model import Workflow


def procedure(*steps: dict[str, Any], **parts: Any) -> Procedure:
    return Procedure.model_validate({"title": "Fan stands still", "steps": steps, **parts})


def do(text: str, line: int = 0, **more: Any) -> dict[str, Any]:
    return {"do": text, **({"at": [[line, line]]} if line else {}), **more}


def ask(question: Any, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An exclusive choice with one arm."""
    return {"choice": "exclusive", "arms": [{"when": question, "steps": steps}], **more}


def end(kind: str, text: str = "", line: int = 0) -> dict[str, Any]:
    return {"end": kind, "text": text, **({"at": [[line, line]]} if line else {})}


def drawn(*steps: dict[str, Any], **parts: Any) -> list[str]:
    return as_lines(lower(procedure(*steps, **parts), "page.md"))


def as_lines(workflow: Workflow) -> list[str]:
    """`text -> Yes: text, No: text`, in reading order; ends stand alone."""
    lines = []
    for step in workflow.steps:
        exits = [
            f"{edge.condition}: {_text(workflow, edge.target)}"
            if edge.condition
            else _text(workflow, edge.target)
            for edge in workflow.exits(step.id)
        ]
        lines.append(f"{step.text} -> {', '.join(exits)}" if exits else step.text)
    return lines


def _text(workflow: Workflow, id_: str) -> str:
    return workflow.by_id[id_].text
