"""A short page with one condition, and a drawing of it that is right."""

from dataclasses import replace

from services.kit.fits.trees import Forest
from services.runbook.evidence.fact import FactKind, Forests
from services.runbook.model import Procedure
from services.scorer.scoring_fit import ScoringFit
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow
from tests.unit.runbook.programs import ask, do, procedure

UNDECIDED = replace(
    ScoringFit.shipped(),
    forests=Forests(forests={kind: Forest(signs=[], start=0.0, trees=[]) for kind in FactKind}),
)
"""Lines that say nothing either way."""

PAGE = "fan.md"
TEXT = """# Fan stands still

1. Read the fan speeds of the tray.
2. If the tray is loose, push the tray in until its latch clicks.
3. Blow the dust out of the blocked rotor.
4. Verify that the exhaust temperature falls again.
"""
PROCEDURE: Procedure = procedure(
    do("Read the fan speeds of the tray", 3),
    ask("Is the tray loose?", do("Push the tray in until its latch clicks", 4), at=[[4, 4]]),
    do("Blow the dust out of the blocked rotor", 5),
    do("Verify that the exhaust temperature falls again", 6),
)


def cited(line: int, document: str = PAGE) -> tuple[Citation, ...]:
    return (Citation(document_id=document, start_line=line, end_line=line),)


def step(id_: str, text: str, line: int, kind: StepKind = StepKind.PROCESS) -> Step:
    return Step(id=id_, kind=kind, text=text, citations=cited(line) if line else ())


READ = step("a", "Look at the fan speeds of the tray", 3)
LOOSE = step("q", "Is the tray loose?", 4, StepKind.DECISION)
PUSH = step("b", "Push the tray in until the latch clicks", 4)
BLOW = step("c", "Blow dust out of the blocked rotor", 5)
VERIFY = step("d", "Verify that the exhaust temperature falls", 6)


def drawn(steps: tuple[Step, ...], *arrows: tuple[str, ...]) -> Workflow:
    edges = tuple(
        Transition(source=a[0], target=a[1], condition=a[2] if a[2:] else "") for a in arrows
    )
    return Workflow(title="", steps=steps, transitions=edges)


RIGHT = drawn(
    (READ, LOOSE, PUSH, BLOW, VERIFY),
    ("a", "q"),
    ("q", "b", "Yes"),
    ("q", "c", "No"),
    ("b", "c"),
    ("c", "d"),
)
