"""What people may do with runs: who starts, who approves what, and on which ground."""

from datetime import UTC, datetime

import pytest

from services.contracts.execution import (
    BindingApproval,
    ChangedSinceError,
    ChosenCall,
    RunAnswer,
    RunDecision,
    RunMode,
    RunOutcome,
    RunPhase,
    StartByHand,
    StartRun,
    Suspend,
)
from services.contracts.gateway import StoredWorkflow, TicketDetail
from services.contracts.scorer import Dimension, Score
from services.contracts.ticket import Fit
from services.execution.bindings.store import BindingStore
from services.execution.runs.state import STOPS_LATER
from services.execution.service import (
    ExecutorService,
    NotApproverError,
    NotWaitingError,
    RunRefusedError,
)
from services.execution.settings import ExecutorSettings
from services.execution.tools.policy import ChangeSwitches
from services.execution.tools.target import Target
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.kit.access.keys import Keys
from services.kit.access.scopes import SCOPES_OF_ROLE, Role, Scope, scopes_of_key
from services.kit.errors import InvalidInputError, NotFoundError, UnavailableError
from services.knowledge.screening.document import hash_of
from services.runbook.checking.approvals import ApprovalUse
from services.runbook.model import Procedure
from services.runbook.ports import ApprovalKind, Happening
from services.runbook.store.sql_readings import SqlReadingStore
from services.simulator.faults import Fault
from services.simulator.simulation import PAGES
from tests.readings import simulated_reading
from tests.unit.execution.carrying import UNKNOWN, Carrying, workflow_of

SHUT = Fault("bgp_session_shut", "leaf-1", "10.0.11.1")
PAGE = "BgpSessionDown"
NOW = datetime.now(UTC)


def person(name, role):
    return Caller(name, CallerKind.PERSON, f"person:{name}", SCOPES_OF_ROLE[role])


ANN, BEA = person("ann", Role.RESPONDER), person("bea", Role.APPROVER)
KEY = Caller("ci", CallerKind.KEY, "key:ci", scopes_of_key(frozenset()))


class Tickets:
    """The gateway's, with one ticket."""

    def __init__(self, labels):
        self.labels = labels
        self.workflow_now = workflow_of(PAGE)
        self.fit = Fit.SURE
        self.resolved_at = None

    def ticket(self, ticket_id):
        if ticket_id != "t":
            raise NotFoundError("no ticket")
        return TicketDetail(
            id="t",
            source="x",
            external_id="1",
            title="down",
            labels=self.labels,
            created_at=NOW,
            updated_at=NOW,
            workflow_id="w",
            fit=self.fit,
            resolved_at=self.resolved_at,
            against=("it names another device",),
        )

    def no_ticket(self, _ticket_id):
        raise UnavailableError("the gateway does not answer")

    def workflow(self, workflow_id):
        one = Dimension(value=4, reason="x")
        names = ("relevance", "coverage", "accuracy", "coherence", "conciseness")
        return StoredWorkflow(
            id=workflow_id,
            ticket_id="t",
            rank=1,
            workflow=self.workflow_now,
            score=Score(**dict.fromkeys(names, one)),
            created_at=NOW,
            fit=self.fit,
        )


class Texts:
    def __init__(self):
        self.texts = {f"{PAGE}.md": (PAGES / f"{PAGE}.md").read_text()}

    def text_of(self, document_id):
        return self.texts.get(document_id)


class House:
    def __init__(self, **policy):
        self.carrying = Carrying(**policy)
        self.tickets = Tickets(self.carrying.break_(SHUT))
        self.texts = Texts()
        self.readings = SqlReadingStore(self.carrying.database)
        self.hash = hash_of(self.texts.text_of(f"{PAGE}.md"))
        self.readings.put(self.hash, simulated_reading(f"{PAGE}.md"))
        self.service = ExecutorService(
            self.carrying.store,
            BindingStore(self.carrying.database),
            tickets=self.tickets,
            texts=self.texts,
            readings=self.readings,
            catalogue=lambda: self.carrying.catalogue,
            clock=self.carrying.clock,
            settings=ExecutorSettings(),
        )

        self.carrying.revisions = self.service.revisions
        self.carrying.is_approved = self.service.is_approved_to_change
        self.carrying.engine = self.carrying.new_engine()

    def approve_page(self, kind=ApprovalKind.WORKFLOW):
        reading = self.readings.served(self.hash).reading
        self.readings.approve(self.hash, reading.procedures, who="bea", kind=kind)

    def approve_bindings(self):
        with acting_as(BEA):
            for each in self.service.bindings("t"):
                if each.binding["tool"]:
                    self.service.approve_binding(
                        BindingApproval(ticket_id="t", step=each.step, binding=each.binding)
                    )

    def start(self, caller=ANN, mode=RunMode.SUPERVISED, *, confirms=True):
        with acting_as(caller):
            wanted = StartRun(ticket_id="t", mode=mode, confirms_page=confirms)
            run = self.service.start(wanted)
        self.carrying.go(run.id)
        return self.service.run(run.id)

    def answer(self, run, option, caller=ANN, **arguments):
        with acting_as(caller):
            answer = RunAnswer(question=run.question.seq, option=option, arguments=arguments)
            self.service.answer(run.id, answer)
        self.carrying.go(run.id)
        return self.service.run(run.id)

    def approve(self, run, caller=BEA, digest=None):
        with acting_as(caller):
            self.service.approve(run.id, RunDecision(digest=digest or run.approval.digest))
        self.carrying.go(run.id)
        return self.service.run(run.id)

    @property
    def changed(self):
        return self.carrying.devices.changes(self.carrying.catalogue)


@pytest.fixture
def house():
    house = House(requester_may_approve=False)
    house.approve_page()
    house.approve_bindings()
    return house


def test_a_responder_starts_and_an_approver_lets_it_change(house):
    run = house.start()
    assert run.phase is RunPhase.APPROVING
    assert run.against == ("it names another device",)
    run = house.approve(run)
    assert run.outcome is RunOutcome.RECOVERED
    assert len(house.changed) == 1


@pytest.mark.parametrize(
    "caller",
    [
        ANN,
        KEY,
        person("vic", Role.VIEWER),
        Caller("platform", CallerKind.PLATFORM, scopes=BEA.scopes),
    ],
)
def test_who_is_no_approver_changes_nothing(house, caller):
    run = house.start()
    with pytest.raises(NotApproverError):
        house.approve(run, caller)
    assert not house.changed


def _acts_while_it_is_sent(house, act, *, fails=None):
    """Let the change be sent, and somebody act in the midst of it."""
    call = house.carrying.devices.call

    def send(tool, *others, **options):
        answer = call(tool, *others, **options)
        if tool.name == "bgp_session_enable":
            house.carrying.devices.call = call
            act()
            if fails:
                raise fails
        return answer

    house.carrying.devices.call = send


def _approved_meanwhile(house, run):
    with acting_as(BEA):
        house.service.approve(run.id, RunDecision(digest=run.approval.digest))
    house.carrying.engine.advance(run.id)
    return house.service.run(run.id)


@pytest.mark.parametrize(
    ("act", "outcome"),
    [("cancel", RunOutcome.CANCELLED), ("take_over", RunOutcome.HANDED_OVER)],
)
def test_a_run_that_is_ended_in_mid_send_ends_when_that_is_made(house, act, outcome):
    run, other = house.start(), house.start()
    waits = []

    def end_it():
        with acting_as(ANN):
            getattr(house.service, act)(run.id)
            with pytest.raises(NotWaitingError):
                house.service.pause(run.id)
        waits.extend((house.service.run(run.id), _approved_meanwhile(house, other)))
        house.service.suspend(Suspend())

    _acts_while_it_is_sent(house, end_it)
    run = house.approve(run)
    assert [each.why for each in waits] == [STOPS_LATER, f"the run {run.id} changes leaf-1"]
    assert [each.kind for each in run.events][-4:] == ["sent", "stopping", "changed", "ended"]
    assert (run.outcome, run.events[-1].by) == (outcome, "ann")
    assert "**changed leaf-1**" in run.report
    assert len(house.changed) == 1


@pytest.mark.parametrize("answer", ["it was made", "it was not made", "hand over", ""])
def test_what_becomes_unknown_while_its_run_is_ended_is_asked_about(house, answer):
    run, other = house.start(), house.start()

    def cancel():
        with acting_as(ANN):
            house.service.cancel(run.id)

    _acts_while_it_is_sent(house, cancel, fails=UNKNOWN)
    run = house.approve(run)
    assert (run.outcome, run.question.what, run.why) == (None, "unknown", STOPS_LATER)
    assert _approved_meanwhile(house, other).why == f"the run {run.id} changes leaf-1"
    if answer:
        run = house.answer(run, answer)
    else:  # nobody can tell
        cancel()
        run = house.service.run(run.id)
    assert (run.outcome, run.why) == (RunOutcome.CANCELLED, "cancelled by ann")
    assert "may have been made or not" in run.report
    assert len(house.changed) == 1


def test_who_started_it_does_not_approve_it(house):
    run = house.start(BEA)
    with pytest.raises(NotApproverError):
        house.approve(run, BEA)


def test_another_name_makes_nobody_somebody_else(house):
    run = house.start(BEA)
    renamed = Caller("Beatrice", CallerKind.PERSON, BEA.id, BEA.scopes)
    with pytest.raises(NotApproverError):
        house.approve(run, renamed)
    assert not house.changed


def test_who_filled_in_what_is_sent_does_not_approve_it(house):
    _bind_otherwise(house, neighbor={"origin": "person", "value": ""})
    run = house.answer(house.start(), "filled in", BEA, neighbor="10.0.11.1")
    renamed = Caller("Beatrice", CallerKind.PERSON, BEA.id, BEA.scopes)
    for caller in (ANN, BEA, renamed):
        with pytest.raises(NotApproverError):
            house.approve(run, caller)
    assert not house.changed
    run = house.approve(run, person("cy", Role.APPROVER))
    assert run.outcome is RunOutcome.RECOVERED
    assert not [each for each in run.events if "by_id" in each.facts]


@pytest.mark.parametrize("owner", [BEA.id, BEA.name])
def test_who_filled_it_in_by_a_key_of_theirs_does_not_approve_it_either(house, owner):
    keys = Keys(house.carrying.database)
    key = keys.caller(keys.create("beas", frozenset({Scope.RUN})))
    _bind_otherwise(house, neighbor={"origin": "person", "value": ""})
    run = house.answer(house.start(), "filled in", key, neighbor="10.0.11.1")
    keys.set_owner("beas", owner)
    keys.rotate("beas")
    with pytest.raises(NotApproverError, match="filled in"):
        house.approve(run, BEA)
    assert not house.changed
    assert house.approve(run, person("cy", Role.APPROVER)).outcome is RunOutcome.RECOVERED


def test_a_ticket_that_is_resolved_meanwhile_is_said_to_be_before_anything_is_sent(house):
    run = house.start()
    assert run.approval.warnings == ()
    house.tickets.resolved_at = NOW
    since = f"resolved since {NOW:%Y-%m-%d %H:%M:%S UTC}"
    assert _shown_again(house, run) == [("the ticket", "open", since)]
    later = house.start()
    assert later.approval.warnings == (f"the ticket is {since}",)


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ({"changes_per_target_and_hour": 0}, "leaf-1 was changed 0 times within the hour"),
        ({"changes": ChangeSwitches()}, "changes are off in this installation"),
    ],
)
def test_what_the_policy_would_refuse_is_said_before_somebody_approves_it(house, policy, why):
    before = house.carrying.catalogue
    run = house.start()
    assert run.approval.warnings == ()
    house.carrying.catalogue = before.model_copy(
        update={"policy": before.policy.model_copy(update=policy)}
    )
    house.carrying.clock.advance(1000)
    run = house.start()
    assert run.approval.warnings == (f"as things are it will not be sent: {why}",)


def test_two_runs_of_one_ticket_have_no_approval_in_common(house):
    first = house.start()
    digest = first.approval.digest
    with acting_as(ANN):
        house.service.cancel(first.id)
    second = house.start()
    with pytest.raises(NotWaitingError):
        house.approve(second, digest=digest)
    assert not house.changed


def test_a_target_at_another_address_is_another_target(house):
    run = house.start()
    catalogue = house.carrying.catalogue
    moved = tuple(
        Target(**{**t.model_dump(), "port": 2222}) if t.name == "leaf-1" else t
        for t in catalogue.targets
    )
    house.carrying.catalogue = type(catalogue)(
        tools=catalogue.tools, targets=moved, policy=catalogue.policy
    )
    assert _shown_again(house, run) == [("target leaf-1: port", "22", "2222")]


def _shown_again(house, run):
    """What differs where a change is shown again; the old digest is worth nothing."""
    with pytest.raises(ChangedSinceError):
        house.approve(run)
    house.carrying.go(run.id)
    again = house.service.run(run.id)
    assert again.approval.again.startswith("it is not what was shown")
    with pytest.raises(NotWaitingError):
        house.approve(run, digest=run.approval.digest)
    assert not house.changed
    differences = [(each.what, each.was, each.now) for each in again.approval.differences]
    house.approve(again)
    assert len(house.changed) == 1
    return differences


def _approved_while_paused(house, run):
    """An approval of what is changed before it can be sent."""
    with acting_as(ANN):
        house.service.pause(run.id)
    house.approve(run)


def test_an_argument_by_another_label_of_the_ticket_is_shown_again(house):
    run = house.start()
    house.carrying.devices.world.devices["leaf-1"].sessions["10.0.21.1"].is_shut = True
    house.tickets.labels = house.tickets.labels | {"neighbor": "10.0.21.1", "severity": "low"}
    assert _shown_again(house, run) == [
        (
            "what is sent",
            "router bgp 65001; no neighbor 10.0.11.1 shutdown",
            "router bgp 65001; no neighbor 10.0.21.1 shutdown",
        ),
        ("label neighbor of the ticket", "10.0.11.1", "10.0.21.1"),
    ]


def _bind_otherwise(house, **arguments):
    [bound] = [each for each in house.service.bindings("t") if each.changes][:1]
    binding = bound.binding | {"arguments": bound.binding["arguments"] | arguments}
    with acting_as(BEA):
        house.service.approve_binding(
            BindingApproval(ticket_id="t", step=bound.step, binding=binding)
        )


def test_a_binding_that_is_replaced_is_shown_again(house):
    run = house.start()
    _bind_otherwise(house, neighbor={"origin": "given", "value": "10.0.11.1"})
    call = "bgp_session_enable: asn from the field bgp_session.asn, neighbor"
    assert _shown_again(house, run) == [
        ("how the step is carried out", f"{call} from the label neighbor", f"{call} is 10.0.11.1")
    ]


def test_a_binding_that_is_withdrawn_leaves_its_change_to_a_person(house):
    run = house.start()
    [bound] = [each for each in house.service.bindings("t") if each.changes][:1]
    for caller in (ANN, KEY):
        with acting_as(caller), pytest.raises(NotApproverError):
            house.service.withdraw_binding(bound.key)
    with acting_as(BEA):
        house.service.withdraw_binding(bound.key)
        with pytest.raises(NotFoundError):
            house.service.withdraw_binding(bound.key)
    with pytest.raises(ChangedSinceError):
        house.approve(run)
    house.carrying.go(run.id)
    run = house.service.run(run.id)
    assert run.approval is None
    assert run.question.text == "Let it up (nobody approves any more how it is carried out)"
    assert not house.changed
    assert house.start().question.text == "Let it up (nobody has approved how it is carried out)"


def test_a_look_that_nobody_vouches_for_any_more_answers_no_question(house):
    with acting_as(ANN):
        started = StartRun(ticket_id="t", mode=RunMode.SUPERVISED, confirms_page=True)
        run = house.service.start(started)
    with acting_as(BEA):
        for bound in house.service.bindings("t"):
            if bound.approved_by and not bound.changes:
                house.service.withdraw_binding(bound.key)
    house.carrying.go(run.id)
    run = house.service.run(run.id)
    assert run.question.evidence == ("nobody approves any more how it is carried out",)
    assert run.approval is None
    assert not any(each.kind == "observed" for each in run.events)


def test_a_label_that_changes_after_the_approval_takes_it_away(house):
    run = house.start()
    _approved_while_paused(house, run)
    labels = house.tickets.labels
    house.tickets.labels = labels | {"neighbor": "10.0.21.1"}
    with acting_as(ANN):
        house.service.resume(run.id)
    house.carrying.go(run.id)
    assert not house.changed
    house.tickets.labels = labels  # and back again: nothing that was said before counts
    house.carrying.go(run.id)
    again = house.service.run(run.id)
    assert again.question.text == "Let it up (before it must hold: shut is yes)"
    assert again.approval is None
    assert not house.changed


def test_labels_that_nobody_can_read_hold_a_change_back(house):
    run = house.start()
    _approved_while_paused(house, run)
    readable, house.tickets.ticket = house.tickets.ticket, house.tickets.no_ticket
    with acting_as(ANN):
        house.service.resume(run.id)
    house.carrying.engine.advance(run.id)
    assert "the ticket cannot be read" in house.service.run(run.id).why
    assert not house.changed
    house.tickets.ticket = readable
    house.carrying.go(run.id)
    assert house.service.run(run.id).outcome is RunOutcome.RECOVERED


def test_what_must_hold_before_is_looked_at_again_after_the_approval(house):
    run = house.start()
    device = house.carrying.devices.world.devices["leaf-1"]
    device.sessions["10.0.11.1"].is_shut = False
    run = house.approve(run)
    assert "before it must hold: shut is yes" in run.question.text
    assert not house.changed


def test_where_the_policy_says_so_they_may():
    house = House(requester_may_approve=True)
    house.approve_page()
    house.approve_bindings()
    assert house.approve(house.start(BEA), BEA).outcome is RunOutcome.RECOVERED


@pytest.mark.parametrize("place", [0, 31, 63])
def test_one_changed_character_voids_an_approval(house, place):
    run = house.start()
    digest = run.approval.digest
    other = digest[:place] + ("0" if digest[place] != "0" else "1") + digest[place + 1 :]
    with pytest.raises(NotWaitingError):
        house.approve(run, digest=other)
    assert not house.changed


def test_an_approval_is_used_once_and_only_in_its_run(house):
    first = house.start()
    digest = first.approval.digest
    house.approve(first)
    with pytest.raises(NotWaitingError):
        house.approve(first, digest=digest)
    house.carrying.devices.world.devices["leaf-1"].sessions["10.0.11.1"].is_shut = True
    second = house.start()
    assert len(house.changed) == 1
    house.carrying.clock.advance(901)
    with pytest.raises(NotWaitingError):
        house.approve(second)


def test_without_a_word_that_this_is_the_page_nothing_is_changed(house):
    run = house.start(confirms=False)
    assert "nobody has said that this is the page" in run.question.text


def test_an_unsure_fit_changes_nothing(house):
    house.tickets.fit = Fit.UNSURE
    assert "not sure" in house.start().question.text


def test_a_page_that_nobody_approved_changes_nothing():
    house = House()
    house.approve_bindings()
    run = house.answer(house.start(), "Yes")
    assert "nobody has approved this step" in run.question.text
    assert not house.changed


def house_with(kind, **marks):
    house = House(requester_may_approve=False)
    reading = house.readings.served(house.hash).reading
    procedures = tuple(each.model_copy(update=marks) for each in reading.procedures)
    reading = reading.model_copy(update={"procedures": procedures})
    house.readings.replace(house.hash, reading, who="bea", what=Happening.REPLACED)
    house.approve_page(kind)
    house.approve_bindings()
    return house


@pytest.mark.parametrize("marks", [{}, {"begun_from_boxes": True}])
def test_a_checklist_with_a_conditional_change_sends_nothing_until_its_decisions_are_approved(
    marks,
):
    house = house_with(ApprovalKind.CHECKLIST, **marks)
    run = house.start()
    assert (run.phase, run.question.what) == (RunPhase.ASKING, "decide")
    assert "the look says Yes; nobody has approved this decision of the page" in run.question.text
    run = house.answer(run, "Yes")
    assert "Let it up (nobody has approved this step of the page)" in run.question.text
    assert not house.changed
    house.approve_page(ApprovalKind.WORKFLOW)
    house.approve(house.start())
    assert house.changed


def test_an_approval_that_shrinks_to_a_checklist_while_leave_is_awaited_sends_nothing():
    house = house_with(ApprovalKind.CHECKLIST)
    house.approve_page(ApprovalKind.WORKFLOW)
    run = house.start()
    assert run.phase is RunPhase.APPROVING
    house.readings.undo(house.hash, who="bea")
    run = house.approve(run)
    assert "refused by the policy: the page, or what was approved" in run.question.text
    assert not house.changed


def test_a_page_that_was_changed_since_changes_nothing(house):
    house.texts.texts[f"{PAGE}.md"] += "\nSomething else.\n"
    run = house.answer(house.start(), "Yes")
    assert "nobody has approved this step" in run.question.text
    assert not house.changed


def test_a_page_that_is_changed_while_leave_is_awaited_changes_nothing(house):
    run = house.start()
    house.texts.texts[f"{PAGE}.md"] += "\nSomething else.\n"
    with pytest.raises(ChangedSinceError):
        house.approve(run)
    house.carrying.go(run.id)
    run = house.service.run(run.id)
    assert "refused by the policy: the page, or what was approved" in run.question.text
    assert "elsewhere than in the lines" in run.question.evidence[0]
    assert not house.changed
    house.hash = hash_of(house.texts.text_of(f"{PAGE}.md"))
    house.readings.put(house.hash, simulated_reading(f"{PAGE}.md"))
    house.approve_page()
    again = house.answer(run, "try again")
    assert [each.what for each in again.approval.differences] == [
        f"page {PAGE}.md, elsewhere than in the lines of this step"
    ]
    assert house.approve(again).outcome is RunOutcome.RECOVERED


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Let it up at once"},
        {"commands": ("configure terminal", "reload")},
        {"commands": ()},
    ],
)
def test_a_step_that_was_edited_on_the_ticket_is_a_person_s(house, change):
    workflow = house.tickets.workflow_now
    steps = tuple(
        s.model_copy(update=change) if s.text == "Let it up" else s for s in workflow.steps
    )
    house.tickets.workflow_now = workflow.model_copy(update={"steps": steps})
    run = house.start()
    assert run.approval is None
    assert not house.changed


def test_a_binding_that_nobody_approved_changes_nothing():
    house = House()
    house.approve_page()
    run = house.start()
    assert "the look says Yes; nobody has approved that this tells it" in run.question.text
    assert "nobody has approved how it is carried out" in house.answer(run, "Yes").question.text
    assert not house.changed


def test_a_run_that_only_looks_is_answered_by_what_is_proposed():
    house = House()
    house.approve_page()
    run = house.start(mode=RunMode.READ_ONLY)
    assert [e.facts["by"] for e in run.events if e.kind == "decided"][:1] == ["evidence"]


def test_a_tool_that_is_defined_otherwise_needs_a_new_approval(house):
    tools = tuple(
        type(t).model_validate({**t.model_dump(), "timeout_s": 7.0})
        for t in house.carrying.catalogue.tools
    )
    catalogue = house.carrying.catalogue
    house.carrying.catalogue = type(catalogue)(
        tools=tools, targets=catalogue.targets, policy=catalogue.policy
    )
    run = house.answer(house.start(), "Yes")
    assert "nobody has approved how it is carried out" in run.question.text
    assert any(each.is_changed_tool for each in house.service.bindings("t"))


def test_whoever_sits_at_the_machine_changes_simulated_devices_alone(house):
    local = Caller("local", CallerKind.LOCAL, scopes=BEA.scopes)
    run = house.start()
    catalogue = house.carrying.catalogue
    real = tuple(t.model_copy(update={"simulated": False}) for t in catalogue.targets)
    house.carrying.catalogue = type(catalogue)(
        tools=catalogue.tools, targets=real, policy=catalogue.policy
    )
    with pytest.raises(NotApproverError):
        house.approve(run, local)
    house.carrying.catalogue = catalogue
    assert house.approve(run, local).outcome is RunOutcome.RECOVERED


def test_leave_of_nobody_who_signed_in_is_void_where_a_device_turned_real(house):
    local = Caller("local", CallerKind.LOCAL, scopes=BEA.scopes)
    run = house.start()
    with acting_as(local):
        house.service.approve(run.id, RunDecision(digest=run.approval.digest))
    catalogue = house.carrying.catalogue
    real = tuple(Target(**{**t.model_dump(), "simulated": False}) for t in catalogue.targets)
    house.carrying.catalogue = type(catalogue)(
        tools=catalogue.tools, targets=real, policy=catalogue.policy
    )
    house.carrying.go(run.id)
    assert not house.changed


def test_a_dry_run_says_what_would_be_sent_and_sends_nothing(house):
    run = house.start(mode=RunMode.DRY, confirms=False)
    assert run.outcome is RunOutcome.SIMULATED
    assert not house.carrying.devices.sent
    change = next(step for step in run.steps if step.text == "Let it up")
    assert change.shown == "router bgp <asn>; no neighbor 10.0.11.1 shutdown"
    assert (change.target, change.undo, change.dry_run) == ("leaf-1", "bgp_session_shut", "none")
    assert change.by_person == ""
    assert run.paths == 26


def test_an_answer_is_one_of_those_that_are_offered(house):
    run = house.start(confirms=False)
    with acting_as(ANN):
        with pytest.raises(InvalidInputError):
            house.service.answer(run.id, RunAnswer(question=run.question.seq, option="reload"))
        with pytest.raises(NotWaitingError):
            house.service.answer(run.id, RunAnswer(question=1, option="done"))


def test_what_is_filled_in_is_checked_as_every_argument(house):
    house.tickets.labels = {"device": "leaf-1"}
    run = house.start()
    assert run.question.fills == ("neighbor",)
    arguments = {"neighbor": "10.0.11.1; reload"}
    bad = RunAnswer(question=run.question.seq, option="filled in", arguments=arguments)
    with acting_as(ANN), pytest.raises(InvalidInputError):
        house.service.answer(run.id, bad)
    with acting_as(ANN):
        answer = RunAnswer(
            question=run.question.seq, option="filled in", arguments={"neighbor": "10.0.11.1"}
        )
        house.service.answer(run.id, answer)
    house.carrying.go(run.id)
    assert house.carrying.devices.sent


def test_a_run_that_is_over_takes_nothing_more(house):
    run = house.approve(house.start())
    with acting_as(ANN):
        for act in (house.service.pause, house.service.cancel, house.service.take_over):
            with pytest.raises(NotWaitingError):
                act(run.id)


def test_another_ticket_s_workflow_is_not_run(house):
    workflow = house.tickets.workflow("w").model_copy(update={"ticket_id": "other"})
    house.tickets.workflow = lambda _id: workflow
    with acting_as(ANN), pytest.raises(NotFoundError):
        house.service.start(StartRun(ticket_id="t"))


def test_a_ticket_without_a_workflow_is_not_run(house):
    without = house.tickets.ticket("t").model_copy(update={"workflow_id": None})
    house.tickets.ticket = lambda _id: without
    with acting_as(ANN), pytest.raises(RunRefusedError):
        house.service.start(StartRun(ticket_id="t"))


def test_who_suspends_runs_is_named(house):
    with acting_as(ANN):
        house.service.suspend(Suspend(why="storm"))
    assert house.service.suspension().by == "ann"
    assert house.start().phase is RunPhase.RUNNING
    assert not house.carrying.devices.sent


@pytest.mark.parametrize(
    "binding",
    [
        {"tool": "no_such"},
        {"tool": "bgp_session", "arguments": {}},
        {"tool": "bgp_session", "arguments": {"neighbor": {"origin": "given", "value": "x;y"}}},
        {"tool": "bgp_session", "arguments": {"neighbor": {"origin": "elsewhere"}}},
        {"tool": ""},
    ],
)
def test_a_binding_that_cannot_be_is_not_approved(house, binding):
    with acting_as(BEA), pytest.raises((InvalidInputError, NotFoundError)):
        house.service.approve_binding(BindingApproval(ticket_id="t", step="s1", binding=binding))


def test_what_people_do_stands_in_the_audit_log(house):
    from services.kit.access.audit import AuditFilter, AuditLog

    run = house.approve(house.start())
    lines = AuditLog(house.carrying.database).lines(AuditFilter(subject=f"run {run.id}"))
    actions = {(line["action"], line["who"]) for line in lines}
    assert {("run.started", "ann"), ("run.approved", "bea")} <= actions
    assert {"run.sent", "run.changed", "run.ended"} <= {action for action, _ in actions}


LET_UP = {"asn": "65001", "neighbor": "10.0.11.1"}


def by_hand(house, *calls, caller=ANN):
    with acting_as(caller):
        chosen = tuple(
            ChosenCall(tool=t, target=on, arguments=arguments) for t, on, arguments in calls
        )
        run = house.service.start_by_hand(StartByHand(ticket_id="t", calls=chosen))
    house.carrying.go(run.id)
    return house.service.run(run.id)


def test_what_a_person_chose_is_done_by_leave_and_seen_to_help(house):
    run = by_hand(house, ("bgp_session_enable", "leaf-1", LET_UP))
    assert run.phase is RunPhase.APPROVING
    assert not house.changed
    ended = house.approve(run)
    assert ended.outcome is RunOutcome.RECOVERED
    assert house.changed == [("leaf-1", "bgp_session_enable", LET_UP)]


def test_a_look_by_hand_is_sent_at_once(house):
    run = by_hand(house, ("bgp_session", "leaf-1", {"neighbor": "10.0.11.1"}))
    assert (run.mode, run.outcome) == (RunMode.READ_ONLY, RunOutcome.DONE)
    assert "BGP state = Idle" in run.report


def test_who_chose_it_does_not_approve_it(house):
    run = by_hand(house, ("bgp_session_enable", "leaf-1", LET_UP), caller=BEA)
    with pytest.raises(NotApproverError):
        house.approve(run)
    assert not house.changed


def test_a_key_chooses_nothing(house):
    with pytest.raises(NotApproverError):
        by_hand(house, ("bgp_session", "leaf-1", {"neighbor": "10.0.11.1"}), caller=KEY)


def test_where_changes_without_a_page_are_off_they_stay_a_person_s():
    on = {"installation": True, "tools": ["bgp_session_enable"], "documents": ["*"]}
    house = House(changes=on)
    run = by_hand(house, ("bgp_session_enable", "leaf-1", LET_UP))
    assert "changes that no page tells are off" in run.question.text
    assert not house.changed


def test_that_it_was_turned_off_meanwhile_counts(house):
    run = by_hand(house, ("bgp_session_enable", "leaf-1", LET_UP))
    policy = house.carrying.catalogue.policy
    off = policy.model_copy(
        update={"changes": policy.changes.model_copy(update={"by_hand": False})}
    )
    house.carrying.catalogue = house.carrying.catalogue.model_copy(update={"policy": off})
    house.approve(run)
    assert not house.changed


@pytest.mark.parametrize(
    ("tool", "target", "arguments"),
    [
        ("bgp_session", "leaf-1", {"neighbor": "10.0.11.1; reload"}),
        ("bgp_session", "leaf-1", {}),
        ("bgp_session", "leaf-1", {"neighbor": "10.0.11.1", "more": "x"}),
        ("bgp_session", "nowhere", {"neighbor": "10.0.11.1"}),
        ("reload", "leaf-1", {}),
    ],
)
def test_what_may_not_be_sent_is_not_chosen(house, tool, target, arguments):
    with pytest.raises((InvalidInputError, NotFoundError)):
        by_hand(house, (tool, target, arguments))
    assert not house.carrying.devices.sent


def test_a_step_is_approved_with_its_condition_where_two_procedures_of_a_page_have_it():
    house = House()
    served = house.readings.served(house.hash).reading
    conditional = served.procedures[0]
    look, let_up = (node for node in conditional.walk() if node.id in {"n1", "n4"})
    always = Procedure(title="After maintenance", steps=(look, let_up))
    both = served.model_copy(update={"procedures": (conditional, always)})
    workflow = house.tickets.workflow_now
    step = next(s for s in workflow.steps if s.text == "Let it up")
    for approved, is_approved in ((always, False), (conditional, True)):
        house.readings.put(house.hash, both)
        house.readings.approve(house.hash, (approved,), who="bea", kind=ApprovalKind.WORKFLOW)
        steps = house.service.approved_steps(workflow, ApprovalUse.CHANGE)
        assert (step.id in steps) is is_approved
        house.readings.undo(house.hash, who="bea")
