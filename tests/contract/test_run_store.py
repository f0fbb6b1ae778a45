"""Runs on each database: what two would write, what a target lets through, what is kept."""

import pytest

from services.contracts.execution import RunOutcome
from services.execution.bindings.binding import Binding
from services.execution.bindings.store import BindingStore
from services.execution.runs.events import NewEvent, RunEventKind
from services.execution.runs.store import (
    LostRunError,
    RunMovedError,
    RunNotFoundError,
    RunStore,
    TargetTakenError,
)
from services.execution.tools.policy import ReadPolicy
from services.kit.queue.outbox import Outbox
from services.simulator.faults import Fault
from services.workflow.model import Citation, Step, StepKind
from tests.contract.databases import database_of
from tests.unit.execution.carrying import Carrying

STEP = Step(
    id="s1",
    kind=StepKind.PROCESS,
    text="Look at the fans",
    commands=("show fans",),
    citations=(Citation(document_id="fans.md", start_line=3, end_line=3),),
)
UNCITED = STEP.model_copy(update={"citations": ()})
SHUT = Fault("bgp_session_shut", "leaf-1", "10.0.11.1")
CHANGE = NewEvent(RunEventKind.PREPARED, ("s3", 1), {"target": "leaf-1"})


@pytest.fixture(params=["sqlite", "postgres"])
def carrying(request):
    with database_of(request.param) as database:
        carrying = Carrying()
        carrying.database.close()
        carrying.database = database
        carrying.outbox = Outbox(database)
        carrying.store = RunStore(database, carrying.outbox)
        carrying.engine = carrying.new_engine()
        yield carrying


def test_a_run_is_driven_to_its_end(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    assert carrying.go(run).open_approval
    assert carrying.approve(run).outcome is RunOutcome.RECOVERED
    assert [each.id for each in carrying.store.of_ticket("t")] == [run]
    assert [each.id for each in carrying.store.latest()] == [run]


def test_an_unknown_run_is_none(carrying):
    with pytest.raises(RunNotFoundError):
        carrying.store.load("nothing")


def test_of_two_who_add_the_same_event_one_is_refused(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    stored = carrying.store.load(run)
    carrying.store.append(stored, [NewEvent(RunEventKind.PAUSED, by="a")], 0)
    with pytest.raises(RunMovedError):
        carrying.store.append(stored, [NewEvent(RunEventKind.PAUSED, by="b")], 0)
    assert carrying.kinds(run) == [RunEventKind.STARTED, RunEventKind.PAUSED]


def test_a_change_is_sent_by_one_of_two(carrying):
    run = carrying.start("BgpSessionDown", carrying.break_(SHUT))
    assert carrying.store.leases.acquire(run, "me", 60)
    assert not carrying.store.leases.acquire(run, "another", 60)
    carrying.store.prepare(carrying.store.load(run), CHANGE, "d", 1.0, driver="me")
    with pytest.raises(LostRunError):
        carrying.store.send(carrying.store.load(run), CHANGE, "d", 1.0, driver="another")
    sent = NewEvent(
        RunEventKind.SENT, CHANGE.place, {"target": "leaf-1", "tool": "x", "arguments": {}}
    )
    carrying.store.send(carrying.store.load(run), sent, "d", 1.0, driver="me")
    with pytest.raises(RunMovedError):
        carrying.store.send(carrying.store.load(run), sent, "d", 1.0, driver="me")
    assert carrying.store.changes_since("leaf-1", 0) == 1


def test_a_target_is_taken_until_its_run_ends(carrying):
    labels = carrying.break_(SHUT)
    one, two = carrying.start("BgpSessionDown", labels), carrying.start("BgpSessionDown", labels)
    for run in (one, two):
        assert carrying.store.leases.acquire(run, run, 60)
    carrying.store.prepare(carrying.store.load(one), CHANGE, "d", 1.0, driver=one)
    with pytest.raises(TargetTakenError):
        carrying.store.prepare(carrying.store.load(two), CHANGE, "d", 1.0, driver=two)
    ended = NewEvent(RunEventKind.ENDED, facts={"outcome": "cancelled", "why": ""})
    carrying.store.append(carrying.store.load(one), [ended], 1.0)
    carrying.store.prepare(carrying.store.load(two), CHANGE, "d", 1.0, driver=two)


def test_standing_still_is_kept_once_and_taken_back(carrying):
    carrying.store.suspend("a", "storm", 1.0)
    carrying.store.suspend("b", "", 2.0)
    assert carrying.store.suspension().by == "a"
    carrying.store.release(3.0)
    assert carrying.store.suspension() is None


def test_the_latest_approval_of_a_binding_counts(carrying):
    bindings = BindingStore(carrying.database)
    for by, tool in (("a", "fans"), ("b", "cpu")):
        bindings.approve("key", Binding(step="s1", tool=tool), "digest", STEP, by=by)
    (approval,) = bindings.approved(["key", "other"]).values()
    assert (approval.by, approval.binding.tool) == ("b", "cpu")


def test_approved_bindings_are_found_by_the_document_of_their_step(carrying):
    bindings = BindingStore(carrying.database)
    bindings.approve("a", Binding(step="s1", tool="fans"), "d", STEP, by="ann", instead_of="b")
    bindings.approve("c", Binding(step="s1", tool="fans"), "d", UNCITED, by="ann")
    (approval,) = bindings.of_documents(["fans.md", "other.md"])
    assert (approval.key, approval.instead_of, approval.step) == ("a", "b", STEP)
    assert bindings.of_documents(["other.md"]) == []


def test_looks_stay_under_the_cap_of_their_target_and_of_all(carrying):
    policy, cap = ReadPolicy(per_target_and_minute=3, per_minute=5), carrying.store.look_cap
    targets = ["leaf-1"] * 4 + ["leaf-2"] * 4
    reached = [cap.take("t", target, policy, 600.0) for target in targets]
    assert [each and each.until for each in reached] == [
        *[None] * 3,
        660.0,
        None,
        None,
        660.0,
        660.0,
    ]
    assert cap.take("t", "leaf-1", policy, 660.0) is None
