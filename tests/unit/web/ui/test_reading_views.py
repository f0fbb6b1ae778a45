"""What the page of a reading says is to be looked at first."""

import pytest

from services.contracts.readings import ProcedureState, ReadingDetail
from services.runbook.model import Reader
from services.runbook.ports import ApprovalKind, ReadingState
from services.web.ui.knowledge.readings.views import procedure_views
from tests.readings import drawn_reading
from tests.unit.runbook.programs import ask, do

TEXT = """# Pump stands still

The pump has moved nothing for a while.

1. Look at the lamp of the pump.
2. If the lamp is red, swap the fuse.
3. Check whether the valve is open. If not, open it.
4. Prime the pump and start it.
5. Watch the gauge for ten minutes.
"""
STEPS = (
    do("Look at the lamp of the pump", 5),
    ask("Is the lamp red?", do("Swap the fuse", 6), at=[[6, 6]]),
    ask({"not": "Is the valve open?"}, do("Open it", 7), at=[[7, 7]]),
    do("Prime the pump and start it", 8),
    do("Watch the gauge for ten minutes", 9),
)


def detail(*, kind: ApprovalKind | None = None, reader: Reader = Reader.MODEL) -> ReadingDetail:
    reading = drawn_reading("Pump stands still", *STEPS, reader=reader)
    state = ReadingState.APPROVED if kind else ReadingState.READ
    return ReadingDetail.model_validate(
        {
            "text_hash": "0" * 64,
            "documents": ("pump.md",),
            "reader": reader,
            "state": state,
            "procedures": 1,
            "approved": int(kind is not None),
            "doubts": len(reading.doubts),
            "was_approved": False,
            "revision": "1",
            "updated_at": "2026-01-01T00:00:00Z",
            "reading": reading,
            "states": (ProcedureState(title="Pump stands still", state=state, kind=kind),),
            "lines": tuple(TEXT.split("\n")),
        }
    )


@pytest.mark.parametrize("kind", [None, ApprovalKind.CHECKLIST])
def test_conditions_of_a_machines_reading_are_judged_and_the_least_likely_comes_first(kind):
    (shown,) = procedure_views(detail(kind=kind))
    assert shown.judged == sum(step.step.chance is not None for step in shown.steps) > 3
    chances = [each.step.chance for each in shown.doubtful]
    assert chances == sorted(chances)
    assert all(each.step.doubt for each in shown.doubtful)


def test_what_a_person_approved_or_wrote_is_not_judged():
    for reading in (detail(kind=ApprovalKind.WORKFLOW), detail(reader=Reader.PERSON)):
        (shown,) = procedure_views(reading)
        assert (shown.judged, shown.doubtful) == (0, ())
