"""Runs beside a page as it is: a look at the box that a person stands at, and never a change."""

from datetime import UTC, datetime

import pytest

from services.contracts.execution import (
    BindingApproval,
    LookAtOnce,
    RunMode,
    RunOutcome,
    RunPhase,
    StartRun,
)
from services.execution.bindings.binding import Binding
from services.execution.bindings.proposer import BindingProposer
from services.execution.bindings.targets import choose_target
from services.execution.runs.run import Confirmation, Run, RunTicket
from services.execution.service import ChecklistRunError, NotApproverError, RunRefusedError
from services.execution.tools.tool import ToolEffect
from services.kit.access.caller import acting_as
from services.kit.errors import NotFoundError
from services.runbook.checking.approvals import ApprovalUse
from services.simulator.simulation import PAGES
from tests.checklists import checklist_of
from tests.unit.execution.carrying import workflow_of
from tests.unit.execution.test_service import ANN, BEA, KEY, PAGE, House

TEXT = (PAGES / f"{PAGE}.md").read_text()
LOOK = "Look at the session"
LET_UP = "If the neighbor is administratively shut down, let it up"


@pytest.fixture
def house():
    """A ticket that shows the page; a reading of the same page is approved, and its bindings."""
    house = House(reads={"at_once": True})
    house.approve_page()
    house.approve_bindings()
    house.tickets.workflow_now = checklist_of(TEXT, document_id=f"{PAGE}.md")
    return house


def box(house, text):
    return next(s for s in house.tickets.workflow_now.steps if s.text.startswith(text)).id


def start(house, step="", caller=ANN, mode=RunMode.READ_ONLY):
    with acting_as(caller):
        run = house.service.start(StartRun(ticket_id="t", step=step, mode=mode, confirms_page=True))
    house.carrying.go(run.id)
    return house.service.run(run.id)


@pytest.mark.parametrize("mode", list(RunMode))
def test_no_run_of_any_mode_carries_a_page_out(house, mode):
    with pytest.raises(ChecklistRunError, match="name the one that you stand at") as refusal:
        start(house, mode=mode)
    assert (refusal.value.status_code, house.service.runs("t")) == (409, [])
    assert not house.carrying.devices.sent


def test_nothing_is_looked_at_before_somebody_asks(house):
    assert house.service.look_at_once(LookAtOnce(ticket_id="t", workflow_id="w")).run_id == ""
    house.tickets.workflow_now = workflow_of(PAGE)
    assert house.service.look_at_once(LookAtOnce(ticket_id="t", workflow_id="w")).run_id


def test_a_tool_looks_at_the_box_that_a_person_stands_at_and_no_further(house):
    run = start(house, box(house, LOOK))
    assert (run.outcome, run.phase) == (RunOutcome.DONE, RunPhase.ENDED)
    assert [tool for _, tool, _ in house.carrying.devices.sent] == ["bgp_session"]
    assert not house.changed


@pytest.mark.parametrize("mode", [RunMode.DRY, RunMode.READ_ONLY])
def test_a_conditional_change_is_a_persons(house, mode):
    with pytest.raises(RunRefusedError, match="nobody has read under which condition"):
        start(house, box(house, LET_UP), mode=mode)
    assert not house.carrying.devices.sent


def test_a_look_is_no_supervised_run(house):
    with pytest.raises(ChecklistRunError, match="only looks"):
        start(house, box(house, LOOK), mode=RunMode.SUPERVISED)


def test_who_stands_at_a_box_is_a_person(house):
    with pytest.raises(NotApproverError):
        start(house, box(house, LOOK), caller=KEY)


@pytest.mark.parametrize(("step", "refusal"), [("gone", NotFoundError), ("end", RunRefusedError)])
def test_only_boxes_are_stood_at(house, step, refusal):
    with pytest.raises(refusal):
        start(house, step)


def test_a_step_of_a_reading_is_no_box(house):
    house.tickets.workflow_now = workflow_of(PAGE)
    with pytest.raises(RunRefusedError, match="no box"):
        start(house, house.tickets.workflow_now.steps[0].id)


def test_looks_alone_are_proposed_for_boxes(house):
    bound = house.service.bindings("t")
    boxes = [step.id for step in house.tickets.workflow_now.steps if step.block]
    assert [each.step for each in bound] == boxes
    assert not any(each.changes for each in bound)
    proposed = {each.step: each.binding["tool"] for each in bound}
    assert proposed[box(house, LOOK)] == "bgp_session"
    assert proposed[box(house, LET_UP)] == ""


def changes_of(house):
    """The bindings that the page's commands would have, were it a reading."""
    bound = BindingProposer(house.carrying.catalogue).propose(
        house.tickets.workflow_now, house.tickets.labels
    )
    catalogue = house.carrying.catalogue
    return [b for b in bound if b.tool and catalogue.tool(b.tool).effect is ToolEffect.CHANGE]


def test_nobody_vouches_for_a_change_at_a_box(house):
    change = changes_of(house)[0]
    approval = BindingApproval(
        ticket_id="t", step=change.step, binding=change.model_dump(mode="json")
    )
    with acting_as(BEA), pytest.raises(ChecklistRunError):
        house.service.approve_binding(approval)


def test_an_approved_reading_beside_it_approves_no_box(house):
    reading = workflow_of(PAGE)
    step = next(s for s in reading.steps if s.commands)
    assert step.id in house.service.approved_steps(reading, ApprovalUse.LOOK)
    as_box = step.model_copy(update={"block": f"1. {step.text}"})
    steps = tuple(as_box if each is step else each for each in reading.steps)
    with_box = reading.model_copy(update={"steps": steps})
    assert step.id not in house.service.approved_steps(with_box, ApprovalUse.LOOK)


def test_a_run_that_somebody_made_of_a_page_sends_nothing(house):
    """As far as a run can be made of it: by hand, with all bindings and no reason against it."""
    workflow, carrying = house.tickets.workflow_now, house.carrying
    bindings: tuple[Binding, ...] = BindingProposer(carrying.catalogue).propose(
        workflow, house.tickets.labels
    )
    assert changes_of(house)
    at = datetime.fromtimestamp(carrying.clock.now(), UTC)
    run = Run(
        id="r",
        ticket=RunTicket(id="t", title=PAGE, labels=house.tickets.labels),
        workflow_id="w",
        workflow=workflow,
        bindings=bindings,
        tools=carrying.catalogue.tools,
        targets={
            b.step: t.name
            for b in bindings
            if b.tool and (t := choose_target(b, carrying.catalogue, house.tickets.labels).target)
        },
        target_digests={t.name: t.digest for t in carrying.catalogue.targets},
        mode=RunMode.SUPERVISED,
        requested_by="ann",
        requested_at=at,
        confirmation=Confirmation(by="ann", at=at),
    )
    carrying.store.start(run, carrying.clock.now())
    state = carrying.go(run.id)
    while state.question:
        assert state.open_approval is None
        options = state.question.options
        state = carrying.answer(run.id, "done" if "done" in options else options[0])
    assert state.outcome is not None
    assert not house.changed
