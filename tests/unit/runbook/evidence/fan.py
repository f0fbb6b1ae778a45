"""A page with a condition in a list, and workflows drawn from it."""

from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

PAGE = "pump.md"
TEXT = """# Pump stands still

## Check

1. Read the pressure at the inlet.
2. If the valve is shut, open the valve by hand.
   - Turn it to the left.
3. Oil the bearing.

## Escalation

Escalate to the workshop if nothing helps.
"""
SOURCE = CitedPages({PAGE: TEXT})


def step(id_: str, text: str, line: int, kind: StepKind = StepKind.PROCESS) -> Step:
    cited = (Citation(document_id=PAGE, start_line=line, end_line=line),) if line else ()
    return Step(id=id_, kind=kind, text=text, citations=cited, implied=not line)


READ = step("read", "Read the pressure at the inlet", 5)
SHUT = step("shut", "Is the valve shut?", 6, StepKind.DECISION)
OPEN = step("open", "Open the valve by hand", 6)
OIL = step("oil", "Oil the bearing", 8)
DONE = step("done", "Resolved", 0, StepKind.TERMINAL)


def drawn(*arrows: tuple[str, str, str], steps: tuple[Step, ...] = ()) -> GroundedWorkflow:
    edges = tuple(Transition(source=a, target=b, condition=c) for a, b, c in arrows)
    own = steps or (READ, SHUT, OPEN, OIL, DONE)
    return GroundedWorkflow(Workflow(title="Pump", steps=own, transitions=edges), SOURCE)


RIGHT = drawn(
    ("read", "shut", ""),
    ("shut", "open", "Yes"),
    ("shut", "oil", "No"),
    ("open", "oil", ""),
    ("oil", "done", ""),
)
SWAPPED = drawn(
    ("read", "shut", ""),
    ("shut", "open", "No"),
    ("shut", "oil", "Yes"),
    ("open", "oil", ""),
    ("oil", "done", ""),
)
UNCONDITIONAL = drawn(
    ("read", "open", ""), ("open", "oil", ""), ("oil", "done", ""), steps=(READ, OPEN, OIL, DONE)
)
