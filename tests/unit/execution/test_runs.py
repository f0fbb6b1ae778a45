"""Runs on the simulated devices: every change by leave, once, and seen to work."""

import threading
from contextlib import suppress

import pytest

from services.contracts.execution import RunMode, RunOutcome, RunPhase
from services.execution.adapters.port import NotSentError, StoppedError
from services.execution.runs.events import NewEvent, QuestionKind, RunEventKind
from services.execution.runs.report import report_of
from services.execution.runs.store import LostRunError, RunMovedError
from services.execution.tools.tool import ToolEffect
from services.simulator.faults import Fault, RepairEffect, alert_of, kinds, variants
from services.simulator.simulation import PAGES
from tests.unit.execution.carrying import UNKNOWN, Carrying

SHUT = Fault("bgp_session_shut", "leaf-1", "10.0.11.1")
HUNG = Fault("bgp_session_hung", "leaf-1", "10.0.11.1")
CPU = Fault("process_cpu", "leaf-2", "snmpd")


@pytest.fixture
def carrying():
    return Carrying()


def test_a_session_that_was_shut_is_let_up_and_seen_to_be(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    state = carrying.go(run)
    assert state.open_approval.shown == "router bgp 65001; no neighbor 10.0.11.1 shutdown"
    assert not carrying.devices.changes(carrying.catalogue)
    state = carrying.approve(run)
    assert state.outcome is RunOutcome.RECOVERED
    assert carrying.devices.active_faults.is_mended(SHUT)
    assert len(carrying.devices.changes(carrying.catalogue)) == 1


def test_the_other_half_of_a_condition_is_of_the_same_look(carrying):
    run = carrying.start("SwitchCpuHigh", carrying.break_(CPU))
    carrying.go(run)
    assert carrying.approve(run).outcome is RunOutcome.RECOVERED
    answers = [
        e.facts["answer"] for e in carrying.store.load(run).events if e.kind is RunEventKind.DECIDED
    ]
    assert answers == ["Yes", "No", "No", "Yes"]


def test_an_effect_that_comes_late_is_waited_for(carrying):
    fault = Fault("bgp_session_hung", "leaf-1", "10.0.11.1", RepairEffect.LATE)
    run = carrying.start("BgpSessionDown", carrying.break_(fault))
    carrying.go(run)
    assert carrying.approve(run).outcome is RunOutcome.RECOVERED
    looks = [e for e in carrying.store.load(run).events if e.facts.get("purpose") == "verify"]
    assert len(looks) > 3


@pytest.mark.parametrize(
    ("acts", "comparison", "came"),
    [
        (RepairEffect.WORKS, "stayed", RunEventKind.VERIFIED),
        (RepairEffect.NOTHING, "stayed", RunEventKind.NOT_VERIFIED),
        (RepairEffect.WORKS, "rose", RunEventKind.NOT_VERIFIED),
    ],
)
def test_a_count_is_held_against_the_look_before_it_after_the_change(
    carrying, acts, comparison, came
):
    carrying.verify(
        "interface_shut",
        tool="interface_state",
        arguments={"interface": "{interface}"},
        tests=[{"field": "crc", "comparison": comparison}],
        within_s=60,
        every_s=10,
        holds_s=30,
    )
    fault = Fault("crc_errors", "leaf-1", "Ethernet1/49", acts)
    run = carrying.start("InterfaceCrcErrors", carrying.break_(fault))
    carrying.go(run)
    carrying.approve(run)
    events = carrying.store.load(run).events
    [changed] = [e for e in events if e.kind is RunEventKind.CHANGED]
    [event] = [e for e in events if e.kind in {RunEventKind.VERIFIED, RunEventKind.NOT_VERIFIED}]
    assert event.kind is came
    if came is RunEventKind.VERIFIED:
        assert 30 <= event.at - changed.at <= 60


def test_a_change_that_does_not_show_is_asked_about_and_not_tried_again(carrying):
    fault = Fault("bgp_session_shut", "leaf-1", "10.0.11.1", RepairEffect.NOTHING)
    run = carrying.start("BgpSessionDown", carrying.break_(fault))
    carrying.go(run)
    state = carrying.approve(run)
    assert state.question.what is QuestionKind.FAILED
    assert state.question.options[0] == "take the changes back"
    assert "BGP state = Idle" in "\n".join(state.question.evidence)
    assert len(carrying.devices.changes(carrying.catalogue)) == 1
    assert carrying.answer(run, "hand over").outcome is RunOutcome.HANDED_OVER


def test_changes_are_taken_back_by_leave_in_reverse_order(carrying):
    fault = Fault("bgp_session_shut", "leaf-1", "10.0.11.1", RepairEffect.NOTHING)
    run = carrying.start("BgpSessionDown", carrying.break_(fault))
    carrying.go(run)
    carrying.approve(run)
    state = carrying.answer(run, "take the changes back")
    assert state.open_approval.tool == "bgp_session_shut"
    state = carrying.approve(run)
    assert state.outcome is RunOutcome.HANDED_OVER
    names = [each[1] for each in carrying.devices.changes(carrying.catalogue)]
    assert names == ["bgp_session_enable", "bgp_session_shut"]


def test_a_denial_is_final(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    stored = carrying.store.load(run)
    carrying.go(run)
    stored = carrying.store.load(run)
    approval = stored.state.open_approval
    denied = NewEvent(RunEventKind.DENIED, approval.place, {"digest": approval.digest}, "bea")
    carrying.store.append(stored, [denied], carrying.clock.now())
    state = carrying.go(run)
    assert state.question.what is QuestionKind.DO
    assert "refused by bea" in state.question.text
    assert not carrying.devices.changes(carrying.catalogue)


def test_who_does_not_answer_has_refused(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    carrying.clock.advance(901)
    state = carrying.go(run)
    assert "nobody approved it in time" in state.question.text
    assert not carrying.devices.changes(carrying.catalogue)


@pytest.mark.parametrize(
    ("by_s", "why"),
    [(901, "bea approved it, and it was not sent in time"), (-3600, "the clock was set back")],
)
def test_leave_that_was_not_used_in_time_is_asked_for_again(carrying, by_s, why):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    old = carrying.go(run).open_approval
    carrying.store.suspend("cy", "", carrying.clock.now())
    carrying.approve(run)
    carrying.clock.advance(by_s)
    carrying.store.release(carrying.clock.now())
    again = carrying.go(run).open_approval
    assert why in again.again
    assert (again.shown, again.differences) == (old.shown, ())
    assert again.digest != old.digest
    assert not carrying.devices.changes(carrying.catalogue)
    assert carrying.approve(run).outcome is RunOutcome.RECOVERED
    assert len(carrying.devices.changes(carrying.catalogue)) == 1


def test_what_only_looks_leaves_changes_to_people(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT), RunMode.READ_ONLY)
    state = carrying.go(run)
    assert state.question.what is QuestionKind.DO
    assert "this run changes nothing" in state.question.text


def test_a_step_that_nobody_approved_is_a_person_s(carrying):
    run = carrying.start(
        "BgpSessionDown", carrying.break_(SHUT), not_changing={"s3": "not approved"}
    )
    state = carrying.go(run)
    assert "not approved" in (state.question.text if state.question else "not approved")
    assert not carrying.devices.changes(carrying.catalogue)


def test_a_policy_that_turned_meanwhile_stops_what_was_approved(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    carrying.catalogue = Carrying(changes={"installation": False}).catalogue
    state = carrying.approve(run)
    assert "refused by the policy: changes are off" in state.question.text
    assert not carrying.devices.changes(carrying.catalogue)
    carrying.catalogue = Carrying().catalogue
    assert carrying.answer(run, "try again").open_approval.again == "nothing was sent"


def test_a_tool_that_was_changed_meanwhile_sends_nothing(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    tools = tuple(
        t.model_copy(update={"timeout_s": 5.0}) if t.name == "bgp_session_enable" else t
        for t in carrying.catalogue.tools
    )
    for tool in tools:
        tool.__dict__.pop("digest", None)
    carrying.catalogue = carrying.catalogue.model_copy(update={"tools": tools})
    carrying.catalogue.__dict__.pop("by_name", None)
    again = carrying.approve(run).open_approval
    [difference] = again.differences
    assert (difference.what, difference.was, difference.now) == (
        "tool bgp_session_enable: timeout_s",
        "30.0",
        "5.0",
    )
    assert not carrying.devices.changes(carrying.catalogue)
    assert carrying.approve(run).outcome is RunOutcome.RECOVERED


def test_a_pause_holds_what_was_approved_until_it_ends(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    stored = carrying.store.load(run)
    carrying.store.append(stored, [NewEvent(RunEventKind.PAUSED, by="cy")], carrying.clock.now())
    state = carrying.approve(run)
    assert state.phase is RunPhase.PAUSED
    assert not carrying.devices.changes(carrying.catalogue)
    stored = carrying.store.load(run)
    carrying.store.append(stored, [NewEvent(RunEventKind.RESUMED, by="cy")], carrying.clock.now())
    assert carrying.go(run).outcome is RunOutcome.RECOVERED


def test_standing_still_wins_over_every_other_state(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    carrying.store.suspend("cy", "a wave of alerts", carrying.clock.now())
    assert carrying.approve(run).outcome is None
    assert not carrying.devices.changes(carrying.catalogue)
    carrying.store.release(carrying.clock.now())
    assert carrying.go(run).outcome is RunOutcome.RECOVERED


def test_a_target_is_changed_by_one_run_and_free_again_at_its_end(carrying):
    labels = carrying.break_(SHUT)
    first, second = (
        carrying.start("BgpSessionDown", labels),
        carrying.start("BgpSessionDown", labels),
    )
    carrying.go(first)
    carrying.go(second)
    carrying.devices.fails["bgp_session_enable"] = UNKNOWN
    carrying.approve(first)
    carrying.devices.fails.clear()
    carrying.devices.world.devices["leaf-1"].sessions["10.0.11.1"].is_shut = True
    stored = carrying.store.load(second)
    approval = stored.state.open_approval
    facts = {"digest": approval.digest, "kind": "person"}
    carrying.store.append(
        stored,
        [NewEvent(RunEventKind.APPROVED, approval.place, facts, "bea")],
        carrying.clock.now(),
    )
    carrying.engine.advance(second)
    assert carrying.store.load(second).waits_for == f"the run {first} changes leaf-1"
    stored = carrying.store.load(first)
    carrying.store.append(
        stored, [NewEvent(RunEventKind.TAKEN_OVER, by="cy")], carrying.clock.now()
    )
    assert carrying.go(second).outcome is RunOutcome.RECOVERED


def test_what_must_hold_before_is_looked_at_with_the_target_taken(carrying):
    labels = carrying.break_(SHUT)
    first, second = (carrying.start("BgpSessionDown", labels) for _ in range(2))
    carrying.go(first)
    carrying.go(second)
    carrying.devices.fails["bgp_session_enable"] = UNKNOWN  # it was made, and the first run asks
    carrying.approve(first)
    carrying.devices.fails.clear()
    stored = carrying.store.load(second)
    approval = stored.state.open_approval
    facts = {"digest": approval.digest, "kind": "person"}
    carrying.store.append(
        stored,
        [NewEvent(RunEventKind.APPROVED, approval.place, facts, "bea")],
        carrying.clock.now(),
    )
    carrying.engine.advance(second)
    assert carrying.store.load(second).waits_for == f"the run {first} changes leaf-1"
    stored = carrying.store.load(first)
    carrying.store.append(
        stored, [NewEvent(RunEventKind.TAKEN_OVER, by="cy")], carrying.clock.now()
    )
    state = carrying.go(second)
    assert "before it must hold: shut is yes" in state.question.text
    assert len(carrying.devices.changes(carrying.catalogue)) == 1


def test_what_may_have_been_sent_is_asked_about_and_not_sent_again(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    carrying.devices.fails["bgp_session_enable"] = UNKNOWN
    state = carrying.approve(run)
    assert state.question.what is QuestionKind.UNKNOWN
    assert "BGP state = Established" in "\n".join(state.question.evidence)
    state = carrying.answer(run, "it was made")
    assert state.outcome is RunOutcome.RECOVERED
    assert len(carrying.devices.changes(carrying.catalogue)) == 1


@pytest.mark.parametrize("tool", ["bgp_session", "bgp_session_enable"])
@pytest.mark.parametrize("back_after_s", [60, 901])
def test_what_surely_was_not_sent_uses_no_approval_up(carrying, tool, back_after_s):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    carrying.devices.refuses[tool] = NotSentError("no connection")
    state = carrying.approve(run)
    assert "no connection; nothing was sent, and the approval of bea holds" in state.question.text
    carrying.devices.refuses.clear()
    carrying.clock.advance(back_after_s)
    state = carrying.answer(run, "try again")
    if back_after_s > 900:
        assert state.open_approval.again == "nothing was sent"
        state = carrying.approve(run)
    assert state.outcome is RunOutcome.RECOVERED
    assert len(carrying.devices.changes(carrying.catalogue)) == 1


def test_a_target_is_free_while_a_person_is_asked_about_what_was_not_sent(carrying):
    labels = carrying.break_(SHUT)
    first, second = (carrying.start("BgpSessionDown", labels) for _ in range(2))
    carrying.go(first)
    carrying.go(second)
    carrying.devices.refuses["bgp_session_enable"] = NotSentError("no connection")
    assert carrying.approve(first).question.what is QuestionKind.DO
    carrying.devices.refuses.clear()
    assert carrying.approve(second).outcome is RunOutcome.RECOVERED
    state = carrying.answer(first, "try again")
    assert "before it must hold: shut is yes" in state.question.text
    assert len(carrying.devices.changes(carrying.catalogue)) == 1


def test_a_change_that_could_not_be_taken_back_is_not_said_to_be(carrying):
    fault = Fault("bgp_session_shut", "leaf-1", "10.0.11.1", RepairEffect.NOTHING)
    run = carrying.start("BgpSessionDown", carrying.break_(fault))
    carrying.go(run)
    carrying.approve(run)
    carrying.answer(run, "take the changes back")
    carrying.devices.refuses["bgp_session_shut"] = NotSentError("no connection")
    assert "try again" in carrying.approve(run).question.options
    carrying.devices.refuses.clear()
    carrying.answer(run, "try again")
    names = [each[1] for each in carrying.devices.changes(carrying.catalogue)]
    assert names == ["bgp_session_enable", "bgp_session_shut"]


def test_a_clock_that_was_set_back_after_sending_asks_no_device_without_end(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    call = carrying.devices.call

    def set_back(tool, *others, **options):
        answer = call(tool, *others, **options)
        if tool.name == "bgp_session_enable":
            carrying.clock.advance(-3600)
        return answer

    carrying.devices.call = set_back
    assert carrying.approve(run).outcome is RunOutcome.RECOVERED
    assert carrying.kinds(run).count(RunEventKind.OBSERVED) < 10


class KilledError(BaseException):
    """As a process that is gone."""


@pytest.mark.parametrize("at", range(12))
def test_killed_at_any_commit_it_goes_on_and_sends_nothing_twice(carrying, at, monkeypatch):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    stored = carrying.store.load(run)
    approval = stored.state.open_approval
    facts = {"digest": approval.digest, "kind": "person"}
    carrying.store.append(
        stored,
        [NewEvent(RunEventKind.APPROVED, approval.place, facts, "bea")],
        carrying.clock.now(),
    )
    left = at
    add = carrying.store._add

    def add_or_die(*args, **kwargs):
        nonlocal left
        add(*args, **kwargs)
        left -= 1
        if left < 0:
            raise KilledError  # within the transaction: it is not committed

    monkeypatch.setattr(carrying.store, "_add", add_or_die)
    with suppress(KilledError):
        carrying.engine.advance(run)
    monkeypatch.setattr(carrying.store, "_add", add)
    carrying.store.leases.release_all()
    carrying.engine = carrying.new_engine()
    state = carrying.go(run)
    if state.question is not None:
        assert state.question.what is QuestionKind.UNKNOWN
        state = carrying.answer(run, "it was made")
    assert state.outcome is RunOutcome.RECOVERED
    assert len(carrying.devices.changes(carrying.catalogue)) == 1


@pytest.mark.parametrize("is_sending", [False, True])
def test_killed_before_the_first_byte_it_needs_no_second_approval(
    carrying, is_sending, monkeypatch
):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    call = carrying.devices.call

    def call_or_die(tool, target, arguments, *, before_sending):
        if tool.effect is ToolEffect.READ:
            return call(tool, target, arguments)
        if is_sending:
            before_sending()
        raise KilledError  # it was connecting, or the first byte was about to leave

    monkeypatch.setattr(carrying.devices, "call", call_or_die)
    with suppress(KilledError):
        carrying.approve(run)
    monkeypatch.setattr(carrying.devices, "call", call)
    carrying.engine = carrying.new_engine()
    state = carrying.go(run)
    assert carrying.kinds(run).count(RunEventKind.APPROVAL_REQUESTED) == 1
    if is_sending:
        assert state.question.what is QuestionKind.UNKNOWN
        assert not carrying.devices.changes(carrying.catalogue)
    else:
        assert state.outcome is RunOutcome.RECOVERED
        assert len(carrying.devices.changes(carrying.catalogue)) == 1


def test_two_workers_at_once_send_it_once(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    stored = carrying.store.load(run)
    approval = stored.state.open_approval
    facts = {"digest": approval.digest, "kind": "person"}
    carrying.store.append(
        stored,
        [NewEvent(RunEventKind.APPROVED, approval.place, facts, "bea")],
        carrying.clock.now(),
    )
    engines = [carrying.new_engine() for _ in range(4)]
    threads = [threading.Thread(target=each.advance, args=(run,)) for each in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    carrying.go(run)
    assert len(carrying.devices.changes(carrying.catalogue)) == 1


def test_a_worker_that_lost_the_run_adds_nothing(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    stored = carrying.store.load(run)
    assert carrying.store.leases.acquire(run, "one", 0)
    assert carrying.store.leases.acquire(run, "two", 30)
    with pytest.raises(LostRunError):
        carrying.store.append(stored, [NewEvent(RunEventKind.UNDOING)], 0, driver="one")


def test_two_who_act_at_once_are_told_apart(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    stored = carrying.store.load(run)
    carrying.store.append(stored, [NewEvent(RunEventKind.PAUSED, by="a")], 0)
    with pytest.raises(RunMovedError):
        carrying.store.append(stored, [NewEvent(RunEventKind.PAUSED, by="b")], 0)


def test_a_look_that_fails_is_tried_three_times_and_then_left_to_a_person(carrying):
    carrying.devices.refuses["bgp_session"] = NotSentError("no connection")
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    state = carrying.go(run)
    assert state.question.what is QuestionKind.DO
    assert carrying.kinds(run).count(RunEventKind.NOT_OBSERVED) == 3


def test_another_host_key_is_not_tried_again(carrying):
    carrying.devices.refuses["bgp_session"] = StoppedError("another host key")
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    carrying.go(run)
    assert carrying.kinds(run).count(RunEventKind.NOT_OBSERVED) == 1


def test_a_run_that_goes_on_too_long_hands_over(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT), within_s=600)
    carrying.go(run)
    carrying.clock.advance(601)
    assert carrying.go(run).outcome is RunOutcome.HANDED_OVER


def test_a_ticket_that_names_no_known_device_is_a_person_s(carrying):
    run = carrying.start("FanFailed", {"device": "leaf-9"})
    assert "names no known switch" in carrying.go(run).question.text


def test_a_label_that_is_no_argument_is_not_sent(carrying):
    labels = carrying.break_(SHUT) | {"neighbor": "10.0.11.1; reload"}
    run = carrying.start("BgpSessionDown", labels)
    state = carrying.go(run)
    assert state.question is not None
    assert not carrying.devices.sent


WITH_PAGE = [kind for kind in kinds() if (PAGES / f"{alert_of(kind)}.md").exists()]


def test_four_kinds_of_fault_have_no_page():
    assert len(kinds()) - len(WITH_PAGE) == 4


@pytest.mark.parametrize("kind", WITH_PAGE)
def test_every_fault_ends_as_its_page_says(carrying, kind):
    fault = variants(kind)[0]
    labels = carrying.break_(fault)
    run = carrying.start(labels["alertname"], labels)
    state = carrying.go(run)
    while state.outcome is None:
        if state.open_approval:
            state = carrying.approve(run)
        else:
            assert state.question.what is QuestionKind.DO, state.question
            state = carrying.answer(run, "done")
    if fault.mended_by:
        assert state.outcome is RunOutcome.RECOVERED
        assert carrying.devices.active_faults.is_mended(fault)
    else:
        assert not carrying.devices.changes(carrying.catalogue)


def test_the_report_tells_what_was_sent_by_whose_leave_and_what_was_seen(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(HUNG))
    carrying.go(run)
    carrying.approve(run)
    stored = carrying.store.load(run)
    report = report_of(stored.run, stored.events, stored.state)
    assert "**changed leaf-1**: `clear ip bgp 10.0.11.1`" in report
    assert "because shut was no (Yes: shut is yes)" in report
    assert "approved by bea" in report
    assert "BGP state = Established" in report
