"""Bindings approved for steps that are gone are proposed at the box with their commands."""

import pytest

from services.contracts.execution import BindingApproval, RunMode, StartRun
from services.execution.service import RunRefusedError
from services.kit.access.caller import acting_as
from services.runbook.checklist.places import box_with_commands
from services.simulator.simulation import PAGES
from services.workflow.model import Step
from tests.checklists import checklist_of
from tests.unit.execution.carrying import workflow_of
from tests.unit.execution.test_service import ANN, BEA, PAGE, House

DOCUMENT = f"{PAGE}.md"
TEXT = (PAGES / DOCUMENT).read_text()
INTERFACE = "If the neighbor is not administratively shut down"
"""Begins the one box with the command of its step; that of the session stands at two."""


@pytest.fixture
def house():
    """Bindings are approved for a reading that is gone; the ticket shows the page."""
    house = House()
    house.approve_bindings()
    house.readings.delete([house.hash])
    house.tickets.workflow_now = checklist_of(TEXT, document_id=DOCUMENT)
    return house


def box(house: House) -> Step:
    steps = house.tickets.workflow_now.steps
    return next(step for step in steps if step.text.startswith(INTERFACE))


def look(house: House, mode: RunMode = RunMode.READ_ONLY) -> str:
    with acting_as(ANN):
        run = house.service.start(StartRun(ticket_id="t", step=box(house).id, mode=mode))
    house.carrying.go(run.id)
    return run.id


def bound(house: House):
    return next(each for each in house.service.bindings("t") if each.step == box(house).id)


def test_one_is_proposed_at_the_only_box_with_its_commands(house):
    carried = [each for each in house.service.bindings("t") if each.approved_before]
    assert [(each.step, each.approved_before) for each in carried] == [(box(house).id, "bea")]
    assert carried[0].approved_by == ""
    assert carried[0].binding["tool"] == "interface_state"
    assert "a step that is gone" in carried[0].binding["why"]


def test_nothing_is_looked_at_by_it_before_somebody_approves_it_for_the_box(house):
    with pytest.raises(RunRefusedError, match="approve it anew"):
        look(house)
    look(house, RunMode.DRY)
    assert not house.carrying.devices.sent
    with acting_as(BEA):
        house.service.approve_binding(
            BindingApproval(ticket_id="t", step=box(house).id, binding=bound(house).binding)
        )
    assert (bound(house).approved_by, bound(house).approved_before) == ("bea", "")
    run = house.service.run(look(house))
    assert run.steps[0].tool == "interface_state"
    assert run.question.fills == ("interface",), "no step before it tells it, as one did"


def test_what_waits_is_listed_with_what_no_box_takes(house):
    listed = house.service.orphaned_bindings(DOCUMENT)
    assert {"Let it up", "Look at the session"} <= {each.text for each in listed}
    assert {each.approved_by for each in listed} == {"bea"}
    assert [each.text for each in listed if each.changes]
    before = len(listed)
    with acting_as(BEA):
        house.service.approve_binding(
            BindingApproval(ticket_id="t", step=box(house).id, binding=bound(house).binding)
        )
    assert len(house.service.orphaned_bindings(DOCUMENT)) == before - 1


def test_of_a_reading_that_is_there_nothing_is_gone(house):
    there = House()
    there.approve_bindings()
    there.tickets.workflow_now = checklist_of(TEXT, document_id=DOCUMENT)
    assert there.service.orphaned_bindings(DOCUMENT) == []
    assert not [each for each in there.service.bindings("t") if each.approved_before]


def test_the_reading_s_own_step_keeps_its_binding_should_it_come_back(house):
    house.tickets.workflow_now = workflow_of(PAGE)
    with acting_as(BEA):
        approved = [each for each in house.service.bindings("t") if each.approved_by]
    assert approved
    assert not [each for each in approved if each.approved_before]


def test_a_binding_of_the_same_words_and_lines_is_not_the_box_s(house):
    """A step that is gone may have said at the same lines what the box says."""
    page = house.tickets.workflow_now
    same = box(house).model_copy(update={"block": "", "node": ""})
    steps = tuple(same if step.id == same.id else step for step in page.steps)
    house.tickets.workflow_now = workflow_of(PAGE).model_copy(
        update={"steps": steps, "transitions": page.transitions}
    )
    binding = bound(house).binding
    with acting_as(BEA):
        house.service.approve_binding(BindingApproval(ticket_id="t", step=same.id, binding=binding))
    house.tickets.workflow_now = page
    assert bound(house).approved_by == ""


def test_a_box_has_just_the_commands_of_its_page_with_gaps_filled_or_open():
    page = checklist_of(TEXT, document_id=DOCUMENT)
    assert box_with_commands(page, ["show interface <interface>"])
    assert box_with_commands(page, ["show interface Ethernet1/1"])
    assert box_with_commands(page, ["show interface Ethernet1/1", "exit"]) is None
    assert box_with_commands(page, ["show interfaces"]) is None
    assert box_with_commands(page, ["show ip bgp neighbors 10.0.11.1"]) is None, "two boxes have it"
    assert box_with_commands(page, []) is None
