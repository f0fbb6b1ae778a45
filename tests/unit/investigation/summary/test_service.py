"""Summaries are kept and proposed once, whatever ends meanwhile; nobody approves bindings."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from sqlalchemy import delete

from services.contracts.execution import RunMode
from services.contracts.proposals import ProposalDetail, ProposalState
from services.contracts.summaries import SummaryRequest, SummaryState
from services.execution.bindings.store import BindingStore
from services.execution.runs.events import NewEvent, RunEventKind
from services.execution.runs.store import ADVANCE_TASK, REPORT_TASK, RunNotFoundError
from services.executor.reporters import RunReporter
from services.investigation.search.store import SearchStore
from services.investigation.summary.by_model import MOST_REPAIRS
from services.investigation.summary.service import NothingDoneError, SummaryService
from services.investigation.summary.store import (
    DRAW_TASK,
    PROPOSE_TASK,
    NotProposableError,
    SummaryNotFoundError,
    SummaryStore,
)
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.kit.access.scopes import SCOPES_OF_ROLE, Role
from services.kit.errors import UnavailableError
from services.kit.tables import OutboxRow, TeachingRow
from services.kit.teaching.ledger import TeachingLedger
from services.llm.scripted import ScriptedChatModel
from services.simulator.faults import Fault
from services.workflow.model import Step, StepKind
from tests.unit.execution.carrying import Carrying

STEP = Step(id="s1", kind=StepKind.PROCESS, text="Look")

ANN = Caller("ann", CallerKind.PERSON, "person:ann", SCOPES_OF_ROLE[Role.RESPONDER])
NOW = datetime.now(UTC)


class Proposals:
    """Ingestion's side: what it keeps, by key, and what it may fail with."""

    def __init__(self):
        self.pages = {}
        self.calls = 0
        self.fails_before = None
        self.fails_after = None

    def propose(self, page):
        self.calls += 1
        if self.fails_before:
            error, self.fails_before = self.fails_before, None
            raise error
        self.pages.setdefault(page.key, page)
        if self.fails_after:
            error, self.fails_after = self.fails_after, None
            raise error
        place = list(self.pages).index(page.key)
        return ProposalDetail(
            id=f"p{place}",
            title=page.title,
            document_id=f"learned/page-{place}.md",
            origin=page.origin,
            state=ProposalState.PROPOSED,
            learned_from=len(page.runs),
            proposed_by=page.proposed_by,
            proposed_at=NOW,
            text=page.text,
            text_hash="0",
            reading=page.reading,
            runs=page.runs,
        )


class House:
    def __init__(self, model=None):
        self.carrying = Carrying()
        carrying = self.carrying
        self.peer = Proposals()
        self.bindings = BindingStore(carrying.database)
        self.store = SummaryStore(carrying.database, carrying.outbox, self.bindings)
        self.summaries = SummaryService(
            carrying.store,
            self.store,
            SearchStore(carrying.database, carrying.outbox),
            catalogue=lambda: carrying.catalogue,
            proposals=lambda: self.peer,
            model=model,
        )
        reporter, register = RunReporter(carrying.store, None, None, None), carrying.outbox.register
        register(ADVANCE_TASK, carrying.engine.advance)
        register(REPORT_TASK, reporter.report)
        register(DRAW_TASK, self.summaries.draw, on_parked=self.store.stop_drawing)
        register(PROPOSE_TASK, self.summaries.hand_in, on_parked=self.store.give_up_proposing)

    def run(self, row, ticket):
        """A session that was shut, mended in a run of a ticket of its own."""
        carrying = self.carrying
        carrying.devices.heal()
        labels = carrying.break_(Fault("bgp_session_shut", f"leaf-{row}", f"10.0.1{row}.1"))
        run = carrying.start("BgpSessionDown", labels, ticket=ticket)
        carrying.go(run)
        carrying.approve(run)
        return run

    def runs(self):
        return tuple(self.run(row, f"t{row}") for row in (1, 2, 3))

    def summarise(self, *runs, title="Sessions that were shut", **more):
        with acting_as(ANN):
            return self.summaries.summarise(SummaryRequest(run_ids=runs, title=title, **more))

    def propose(self, key):
        with acting_as(ANN):
            return self.summaries.propose(key)

    def work(self):
        """Do the tasks of summaries that are due; whether there was one."""
        self.drop_tasks_of_runs()
        self.carrying.outbox.restart()
        return self.carrying.outbox.run_next("executor")

    def drop_tasks_of_runs(self):
        """They are driven by hand here."""
        others = delete(OutboxRow).where(OutboxRow.task.in_([ADVANCE_TASK, REPORT_TASK]))
        with self.carrying.database.session() as session:
            session.execute(others)


@pytest.fixture
def house():
    return House()


def test_runs_become_a_page_that_says_what_they_did(house):
    report = house.summarise(*house.runs())
    assert report.state is SummaryState.LEARNED
    page = report.pages[0]
    assert page.changes == ("bgp_session_enable",)
    assert page.learned_from == 3
    assert (page.replayed, page.left_out) == (3, 3)
    assert page.text.startswith("# Sessions that were shut")
    assert report.by == "ann"


def test_the_same_runs_under_the_same_title_are_one_summary(house):
    runs = house.runs()
    first = house.summarise(*runs)
    assert house.summarise(*reversed(runs)) == first
    assert house.summarise(*runs, title="Another").key != first.key
    assert house.summaries.summary(first.key) == first


def test_all_runs_of_a_ticket_are_one_trace(house):
    carrying = house.carrying
    labels = carrying.break_(Fault("bgp_session_shut", "leaf-2", "10.0.12.1"))
    looked = carrying.start("BgpSessionDown", labels, RunMode.READ_ONLY, ticket="t2")
    carrying.go(looked)
    carrying.answer(looked, "hand over")
    runs = [house.run(1, "t1"), looked, house.run(2, "t2")]
    report = house.summarise(ticket_ids=("t1", "t2"))
    assert report.traces == 2
    assert report.pages[0].learned_from == 2
    assert house.summarise(*runs).key == report.key
    house.propose(report.key)
    house.work()
    page = next(iter(house.peer.pages.values()))
    assert sorted(each.ticket_id for each in page.runs) == ["t1", "t2"]
    assert {each.run_id for each in page.runs} == {runs[0], runs[2]}


@pytest.mark.parametrize("is_recorded", [True, False])
def test_who_teaches_by_runs_is_listed_and_taken_back(house, is_recorded):
    database, runs = house.carrying.database, []
    for row, name in enumerate(("bob", "cyd", "cyd"), 1):
        with acting_as(Caller(name, CallerKind.PERSON, f"https://login.example.org#{name}")):
            runs.append(house.run(row, f"t{row}"))
    if not is_recorded:  # runs of an earlier version
        with database.session() as session:
            session.execute(delete(TeachingRow))
    report = house.summarise(*runs)
    ledger = TeachingLedger(database)
    assert {each.caller: each.subjects for each in ledger.counts()} == {"bob": 1, "cyd": 2}
    by = [each.teacher for each in house.store.load(report.key).traces]
    assert by == ["person:bob", "person:cyd", "person:cyd"]
    with database.session() as session:
        ledger.withdraw(session, "bob")
    with pytest.raises(NotProposableError, match="taken back"):
        house.propose(report.key)
    without = house.summarise(*runs)
    assert [each.id for each in house.store.load(without.key).traces] == runs[1:]
    with pytest.raises(NothingDoneError, match="taken back"):
        house.summarise(runs[0])
    with database.session() as session:
        ledger.restore(session, "bob")
    assert house.summarise(*runs).key == report.key
    assert house.propose(report.key).state is SummaryState.PROPOSING


def test_a_run_that_is_not_over_or_not_there_is_refused(house):
    labels = house.carrying.break_(Fault("bgp_session_shut", "leaf-1", "10.0.11.1"))
    waiting = house.carrying.start("BgpSessionDown", labels)
    with pytest.raises(NothingDoneError, match="not over"):
        house.summarise(waiting)
    with pytest.raises(RunNotFoundError):
        house.summarise("nothing")
    with pytest.raises(NothingDoneError):
        house.summarise(ticket_ids=("nobody",))
    with pytest.raises(SummaryNotFoundError):
        house.summaries.summary("nothing")
    with pytest.raises(ValueError, match="run_ids or ticket_ids"):
        SummaryRequest(title="x")


def test_a_page_is_proposed_with_its_runs_and_its_bindings_are_offered_approved_by_nobody(house):
    report = house.summarise(*house.runs())
    assert house.propose(report.key).state is SummaryState.PROPOSING
    assert house.work()
    done = house.summaries.summary(report.key)
    assert done.state is SummaryState.PROPOSED
    assert done.pages[0].document_id == "learned/page-0.md"
    page = next(iter(house.peer.pages.values()))
    assert {each.ticket_id for each in page.runs} == {"t1", "t2", "t3"}
    assert page.proposed_by == "ann"
    learned = house.store.load(report.key).workflows[0].learned
    bindings = house.bindings.load_many(list(learned.bindings_by_key("learned/page-0.md")))
    assert {each.binding.tool for each in bindings.values()} == {
        "bgp_session",
        "bgp_session_enable",
    }
    assert {each.by for each in bindings.values()} == {""}
    assert not house.bindings.approved(list(bindings))


@pytest.mark.parametrize("when", ["fails_before", "fails_after"])
def test_a_proposal_that_broke_off_is_made_once(house, when):
    report = house.summarise(*house.runs())
    house.propose(report.key)
    setattr(house.peer, when, UnavailableError("gone"))
    house.work()
    assert house.summaries.summary(report.key).state is SummaryState.PROPOSING
    assert not house.bindings.load_many(
        list(house.store.load(report.key).workflows[0].learned.bindings_by_key("learned/page-0.md"))
    )
    house.work()
    assert house.summaries.summary(report.key).state is SummaryState.PROPOSED
    assert len(house.peer.pages) == 1


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("commit", range(4))
def test_killed_at_any_commit_it_is_proposed_once_with_all_its_bindings(house, monkeypatch, commit):
    report = house.summarise(*house.runs())
    house.propose(report.key)
    house.drop_tasks_of_runs()
    session_of, seen = house.carrying.database.session, []

    class Ending:
        """A session after whose work, before whose commit, the process ends."""

        def __init__(self):
            self.inner = session_of()

        def __enter__(self):
            return self.inner.__enter__()

        def __exit__(self, *raised):
            seen.append(1)
            if len(seen) == commit + 1 and raised == (None, None, None):
                error = Killed()
                self.inner.__exit__(Killed, error, None)
                raise error
            return self.inner.__exit__(*raised)

    with monkeypatch.context() as patched:
        patched.setattr(house.carrying.database, "session", Ending)
        with suppress(Killed):
            house.carrying.outbox.run_next("executor")
    for _ in range(3):
        house.work()
    assert house.summaries.summary(report.key).state is SummaryState.PROPOSED
    assert len(house.peer.pages) == 1
    learned = house.store.load(report.key).workflows[0].learned
    assert len(house.bindings.load_many(list(learned.bindings_by_key("learned/page-0.md")))) == len(
        learned.bindings()
    )
    assert house.carrying.outbox.counts()["parked"] == 0


def test_proposing_twice_is_one_proposal(house):
    report = house.summarise(*house.runs())
    house.propose(report.key)
    house.propose(report.key)
    house.work()
    assert house.propose(report.key).state is SummaryState.PROPOSED
    assert house.peer.calls == 1


def test_a_binding_that_somebody_has_approved_stays(house):
    report = house.summarise(*house.runs())
    learned = house.store.load(report.key).workflows[0].learned
    key, binding = next(iter(learned.bindings_by_key("learned/page-0.md").items()))
    with acting_as(ANN):
        mine = binding.model_copy(update={"why": "mine"})
        house.bindings.approve(key, mine, "d", STEP, by="bea")
    house.propose(report.key)
    house.work()
    kept = house.bindings.approved([key])[key]
    assert (kept.by, kept.binding.why) == ("bea", "mine")


def test_what_was_refused_says_why_and_cannot_be_proposed(house):
    carrying = house.carrying
    labels = carrying.break_(Fault("bgp_session_shut", "leaf-1", "10.0.11.1"))
    run = carrying.start("BgpSessionDown", labels)
    carrying.go(run)
    stored = carrying.store.load(run)
    carrying.store.append(
        stored,
        [NewEvent(RunEventKind.ENDED, facts={"outcome": "cancelled", "why": "x"}, by="ann")],
        carrying.clock.now(),
    )
    report = house.summarise(run)
    assert report.state is SummaryState.REFUSED
    assert report.refused == ("no trace shows what to do",)
    with pytest.raises(NotProposableError):
        house.propose(report.key)


def test_a_model_is_asked_by_a_task_and_the_rules_page_is_there_meanwhile():
    model = ScriptedChatModel(["I do not know"])
    house = House(model)
    report = house.summarise(*house.runs())
    assert report.state is SummaryState.DRAWING
    assert report.pages
    house.work()
    assert len(model.requests) == 1 + MOST_REPAIRS
    assert house.summaries.summary(report.key).state is SummaryState.LEARNED


def test_a_model_comes_too_late_for_what_was_proposed():
    house = House(ScriptedChatModel(["I do not know"]))
    report = house.summarise(*house.runs())
    assert house.propose(report.key).state is SummaryState.PROPOSING
    for _ in range(6):
        house.work()
    summary = house.summaries.summary(report.key)
    assert summary.state is SummaryState.PROPOSED
    assert summary.pages[0].text == report.pages[0].text


def test_a_model_that_is_away_leaves_the_rules_page():
    class Away:
        name = "away"

        def complete(self, request):
            raise RuntimeError(request.prompt)

    house = House(Away())
    report = house.summarise(*house.runs())
    for _ in range(6):
        house.work()
    assert house.summaries.summary(report.key).state is SummaryState.LEARNED


def test_what_is_done_stands_in_the_audit_log(house):
    report = house.summarise(*house.runs())
    house.propose(report.key)
    audit_filter = AuditFilter(subject=f"summary {report.key[:32]}")
    lines = AuditLog(house.carrying.database).lines(audit_filter)
    assert {(line["action"], line["who"]) for line in lines} == {
        ("summary.made", "ann"),
        ("summary.proposed", "ann"),
    }
