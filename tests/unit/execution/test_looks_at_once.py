"""Runs that start by themselves: they look, ask nobody, and tell the ticket what they saw."""

from typing import ClassVar

import pytest

from services.contracts.execution import LookAtOnce, RunMode, RunOutcome, RunPhase
from services.contracts.ticket import Fit
from services.execution.adapters.port import StoppedError
from services.execution.runs.events import RunEventKind
from services.executor.reporters import RunReporter
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.errors import NotFoundError
from services.simulator.faults import Fault, RepairEffect
from tests.unit.execution.carrying import workflow_of
from tests.unit.execution.test_service import House


class Proposals:
    """Hears of pages that helped."""

    validated: ClassVar[list[str]] = []

    def validate(self, validation):
        self.validated.extend(validation.document_ids)


REQUEST = LookAtOnce(ticket_id="t", workflow_id="w")


@pytest.fixture
def house():
    return House(reads={"at_once": True})


def looked(house):
    run_id = house.service.look_at_once(REQUEST).run_id
    house.carrying.go(run_id)
    return house.service.run(run_id)


def test_it_answers_by_evidence_and_leaves_the_rest(house):
    run = looked(house)
    assert (run.mode, run.requested_by) == (RunMode.READ_ONLY, "the policy")
    assert [e.facts["answer"] for e in run.events if e.kind == "decided"] == ["Yes"]
    assert run.outcome is RunOutcome.HANDED_OVER
    assert run.why == "the rest is a person's: Let it up"
    assert not [e for e in run.events if e.kind in {"asked", "approval_asked"}]
    assert [tool for _, tool, _ in house.carrying.devices.sent] == ["bgp_session"]
    assert not house.changed


def test_it_goes_on_behind_what_only_finds_out(house):
    house.tickets.workflow_now = workflow_of("InterfaceFlapping")
    house.tickets.labels = house.carrying.break_(Fault("link_flapping", "leaf-1", "Ethernet1/49"))
    steps = house.tickets.workflow_now.steps
    first = steps[0].model_copy(update={"text": "Check who is on call", "commands": ()})
    house.tickets.workflow_now = house.tickets.workflow_now.model_copy(
        update={"steps": (first, *steps[1:])}
    )
    run = looked(house)
    [passed] = [e for e in run.events if e.facts.get("how") == "skipped"]
    assert passed.step == first.id
    assert [e for e in run.events if e.kind == "decided"]


def test_it_ends_at_a_step_that_no_tool_does(house):
    steps = house.tickets.workflow_now.steps
    first = steps[0].model_copy(update={"text": "Restart the spine", "commands": ()})
    house.tickets.workflow_now = house.tickets.workflow_now.model_copy(
        update={"steps": (first, *steps[1:])}
    )
    run = looked(house)
    assert run.why == "the rest is a person's: Restart the spine"
    assert not house.carrying.devices.sent


def test_told_again_it_is_the_same_run(house):
    run = looked(house)
    sent = len(house.carrying.devices.sent)
    assert looked(house).id == run.id
    assert len(house.service.runs("t")) == 1
    assert len(house.carrying.devices.sent) == sent


def test_another_workflow_of_the_ticket_is_looked_at_anew(house):
    first = looked(house)
    again = house.tickets.ticket("t").model_copy(update={"workflow_id": "w2"})
    house.tickets.ticket = lambda _id: again
    second = house.service.look_at_once(LookAtOnce(ticket_id="t", workflow_id="w2"))
    assert second.run_id not in {first.id, ""}
    assert house.service.look_at_once(REQUEST).run_id == ""  # the ticket shows it no more


@pytest.mark.parametrize("policy", [{}, {"reads": {}}, {"reads": {"at_once": False}}])
def test_nothing_is_looked_at_where_the_policy_does_not_say_so(policy):
    house = House(**({"reads": {}} | policy))
    assert house.service.look_at_once(REQUEST).run_id == ""
    assert house.service.runs("t") == []


def test_an_unsure_fit_is_not_looked_at(house):
    house.tickets.fit = Fit.UNSURE
    assert house.service.look_at_once(REQUEST).run_id == ""


def test_a_workflow_that_no_tool_can_look_at_makes_no_run(house):
    house.tickets.labels = {"device": "unknown-9", "neighbor": "10.0.11.1"}
    assert house.service.look_at_once(REQUEST).run_id == ""
    assert house.service.runs("t") == []


def test_a_ticket_that_is_gone_is_an_error(house):
    with pytest.raises(NotFoundError):
        house.service.look_at_once(LookAtOnce(ticket_id="gone", workflow_id="w"))


def test_the_audit_log_says_who_started_it(house):
    run = looked(house)
    lines = AuditLog(house.carrying.database).lines(AuditFilter(subject=f"run {run.id}"))
    started = [line for line in lines if line["action"] == "run.started"]
    assert [(line["who"], line["kind"]) for line in started] == [("the policy", "platform")]


class Noting:
    def __init__(self):
        self.notes = []

    def note_run(self, ticket_id, note):
        self.notes.append((ticket_id, note))


def test_its_ticket_is_told_what_answers_its_questions(house):
    run, tickets = looked(house), Noting()
    RunReporter(house.carrying.store, tickets, None, Proposals).report(run.id)
    [(ticket, note)] = tickets.notes
    decided = next(e for e in run.events if e.kind == "decided")
    assert (ticket, note.is_look, note.workflow_id) == ("t", True, "w")
    assert [each.model_dump() for each in note.seen] == [
        {"step": decided.step, "answer": "Yes", "target": "leaf-1", "because": "shut = yes"}
    ]


def test_a_run_that_somebody_started_is_no_look(house):
    house.approve_page()
    house.approve_bindings()
    run, tickets = house.approve(house.start()), Noting()
    RunReporter(house.carrying.store, tickets, None, Proposals).report(run.id)
    [(_, note)] = tickets.notes
    assert not note.is_look
    assert note.seen == ()


def test_it_asks_nobody_though_a_look_fails(house):
    house.carrying.devices.refuses["bgp_session"] = StoppedError("refused to log us in")
    run = looked(house)
    assert run.outcome is RunOutcome.HANDED_OVER
    assert RunEventKind.QUESTION_RAISED.value not in [e.kind for e in run.events]


def look_again(house, workflow_id):
    again = house.tickets.ticket("t").model_copy(update={"workflow_id": workflow_id})
    house.tickets.ticket = lambda _id: again
    request = LookAtOnce(ticket_id="t", workflow_id=workflow_id)
    return house.service.look_at_once(request).run_id


@pytest.mark.parametrize(
    ("cap", "why"),
    [
        ("per_target_and_minute", "leaf-1 was looked at 1 times within the minute by itself"),
        ("per_minute", "it was looked 1 times within the minute by itself"),
    ],
)
def test_over_the_cap_of_a_minute_it_waits_and_says_why(cap, why):
    house = House(reads={"at_once": True, cap: 1})
    house.carrying.clock.at = 120 * (house.carrying.clock.at // 120)
    looked(house)
    second = look_again(house, "w2")
    house.carrying.engine.advance(second)
    waiting = house.service.run(second)
    assert (waiting.phase, waiting.why) == (RunPhase.RUNNING, why)
    assert len(house.carrying.devices.sent) == 1
    house.carrying.go(second)
    assert len(house.carrying.devices.sent) == 2
    assert house.service.run(second).outcome is RunOutcome.HANDED_OVER


def test_over_the_cap_of_its_ticket_it_is_left_to_a_person_who_reads_why():
    house = House(reads={"at_once": True, "per_ticket_and_hour": 1})
    looked(house)
    second, tickets = look_again(house, "w2"), Noting()
    house.carrying.go(second)
    why = "it was looked 1 times within the hour for this ticket by itself: a person looks"
    assert (house.service.run(second).outcome, house.service.run(second).why) == (
        RunOutcome.HANDED_OVER,
        why,
    )
    assert len(house.carrying.devices.sent) == 1
    RunReporter(house.carrying.store, tickets, None, Proposals).report(second)
    [(_, note)] = tickets.notes
    assert note.left == why
    house.carrying.clock.at += 3601
    house.carrying.go(look_again(house, "w3"))
    assert len(house.carrying.devices.sent) == 2


def test_what_a_person_starts_has_no_cap():
    house = House(reads={"at_once": True, "per_minute": 0, "per_ticket_and_hour": 0})
    house.approve_page()
    house.approve_bindings()
    house.approve(house.start())
    assert house.changed


def test_a_count_that_rises_is_looked_at_twice(house):
    house.tickets.workflow_now = workflow_of("InterfaceCrcErrors")
    fault = Fault("crc_errors", "leaf-1", "Ethernet1/49", RepairEffect.WORKS)
    house.tickets.labels = house.carrying.break_(fault)
    run = looked(house)
    assert [e.facts["answer"] for e in run.events if e.kind == "decided"] == ["Yes"]
    assert not house.changed
