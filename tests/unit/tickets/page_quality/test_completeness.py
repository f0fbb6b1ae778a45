"""What others check is told beside the workflow, with its sources, or why nothing is."""

from itertools import pairwise

import pytest

from services.contracts.adoption import StepMark, StepState
from services.contracts.retrieval import PageReading, SourceText
from services.contracts.teaching import TeachingWithdrawal
from services.kit.access.caller import LOCAL, PLATFORM, Caller, CallerKind, acting_as
from services.kit.teaching.ledger import record_teaching, ticket_subject
from services.kit.teaching.teacher import MOST_A_DAY
from services.knowledge.embedding.embedders import HashingEmbedder
from services.runbook.inspections import checks_of
from services.runbook.ports import ServedReading
from services.tickets.adoption.feedback_recorder import put_mark
from services.tickets.page_quality.completeness import CompletenessService, own_checks
from services.tickets.teaching import TeachingService
from services.workflow.model import Provenance, Step, StepKind, Transition, Workflow
from tests.checklists import checklist_of
from tests.readings import drawn_reading
from tests.unit.gateway.fakes import RUNBOOK, fan_workflow
from tests.unit.runbook.programs import do

POWER = "Check the power supply of the switch"
OTHERS = ("Check the optic of the port", "Check the log of syncd", "Check the disk")


def page(name, *steps, origin=""):
    text = "\n".join(
        [f"# {name}", "", "## Fix", "", *(f"{n}. {s}." for n, s in enumerate(steps, 1))]
    )
    body = (do(step, n) for n, step in enumerate(steps, 5))
    reading = ServedReading(reading=drawn_reading(name, *body))
    return PageReading(document_id=name, title=name, served=reading, text=text, origin=origin)


class FakePeers:
    """Retrieval that knows pages of a kind."""

    def __init__(self):
        self.pages = [page(f"{n}.md", POWER, other, "Oil it") for n, other in enumerate(OTHERS)]

    def peers(self, query):
        assert query.document_id == RUNBOOK
        return self.pages

    def source(self, span):
        return SourceText(span=span, document_title="Fan failed", text="Look at the flash card")


@pytest.fixture
def peers():
    return FakePeers()


@pytest.fixture
def completing(gateway, peers):
    return CompletenessService(gateway.database, peers, HashingEmbedder())


@pytest.fixture
def planned(gateway):
    origin = Provenance(planner="extractive", document_ids=(RUNBOOK,))
    gateway.planner.workflows = [fan_workflow().model_copy(update={"provenance": origin})]

    def planned(group):
        (accepted,) = gateway.post(group, "/workflow/alertmanager")["tickets"]
        gateway.work()
        return gateway.ticket(accepted["id"])

    return planned


def test_what_three_pages_of_the_kind_check_is_learned_with_their_lines(completing, planned, group):
    completeness = completing.of_ticket(planned(group)["id"])
    (check,) = completeness.pages.checks
    assert (check.text, check.have, check.of) == (POWER, 3, 3)
    assert [(s.document_id, s.start_line) for s in check.sources] == [
        ("0.md", 5),
        ("1.md", 5),
        ("2.md", 5),
    ]


def test_pages_that_nobody_wrote_by_hand_do_not_count(completing, planned, group, peers):
    peers.pages[0] = page("0.md", POWER, origin="learned from 3 runs")
    comparison = completing.of_ticket(planned(group)["id"]).pages
    assert (comparison.checks, comparison.why_none) == (
        (),
        "only 2 others of this kind: too few to compare with",
    )


def test_what_the_workflow_has_is_not_suggested(completing, planned, group, peers):
    peers.pages = [page(f"{n}.md", "Check the fans", other) for n, other in enumerate(OTHERS)]
    assert completing.of_ticket(planned(group)["id"]).pages.checks == ()


def alert_of(group, number):
    device = {**group["alerts"][0]["labels"], "device": f"spine-{number:02}"}
    times = {"fingerprint": f"{number:016x}", "startsAt": f"2025-03-12T08:{number:02}:00Z"}
    return {**group, "alerts": [{**group["alerts"][0], "labels": device, **times}]}


def test_what_was_looked_at_on_past_tickets_of_the_alert_is_suggested(
    gateway, completing, planned, group
):
    for number in range(1, 4):
        ticket = planned(alert_of(group, number))
        edits = [{"edit": "add", "after": "look", "text": POWER}]
        version = gateway.client.post(
            f"/v1/workflows/{ticket['workflow_id']}/versions", json={"edits": edits}
        ).json()
        added = next(s["id"] for s in version["workflow"]["steps"] if s["text"] == POWER)
        address = f"/v1/workflows/{version['id']}/steps/{added}/mark"
        assert gateway.client.put(address, json={"state": "done"}).status_code == 200
    comparison = completing.of_ticket(planned(alert_of(group, 9))["id"]).tickets
    assert [(each.text, each.have, each.of) for each in comparison.checks] == [(POWER, 3, 3)]
    assert all(source.ticket_id for source in comparison.checks[0].sources)


def test_pages_that_check_nothing_count_among_the_others(completing, planned, group, peers):
    peers.pages.append(page("3.md", "Oil it", "Replace it"))
    (check,) = completing.of_ticket(planned(group)["id"]).pages.checks
    assert (check.text, check.have, check.of) == (POWER, 3, 4)


def looks(*texts):
    steps = [Step(id=f"s{n}", kind=StepKind.PROCESS, text=t) for n, t in enumerate(texts, 1)]
    end = Step(id="end", kind=StepKind.TERMINAL, text="Resolved")
    ids = [step.id for step in (*steps, end)]
    arrows = tuple(Transition(source=a, target=b) for a, b in pairwise(ids))
    return Workflow(
        title=texts[0],
        steps=(*steps, end),
        transitions=arrows,
        provenance=Provenance(planner="extractive", document_ids=(RUNBOOK,)),
    )


def test_a_step_done_in_one_candidate_is_not_done_in_another(gateway, completing, group):
    flash = "Check the flash of the supervisor card"
    gateway.planner.workflows = [
        looks(OTHERS[0], POWER),
        looks("Check the fans of the chassis", flash),
    ]
    for number in range(1, 5):
        (accepted,) = gateway.post(alert_of(group, number), "/workflow/alertmanager")["tickets"]
        gateway.work()
        ticket = gateway.ticket(accepted["id"])
        first, second = (each["url"] for each in ticket["candidates"])
        for address in (f"{first}/steps/s1/mark", f"{second}/steps/s2/mark"):
            assert gateway.client.put(address, json={"state": "done"}).status_code == 200
    gateway.planner.workflows = [looks("Check the uptime of the host")]
    (accepted,) = gateway.post(alert_of(group, 9), "/workflow/alertmanager")["tickets"]
    gateway.work()
    comparison = completing.of_ticket(accepted["id"]).tickets
    assert {each.text for each in comparison.checks} == {OTHERS[0], flash}


def test_what_a_box_says_behind_its_first_sentence_is_not_told_again():
    texts = [
        check.text for check in own_checks(checklist_of("- Restart the tray. Check the fans.\n"))
    ]
    assert "Check the fans." in texts


def test_a_box_that_does_more_than_look_is_no_check():
    page = "- Check the fan speed.\n- Check the fan tray. Replace it.\n"
    assert [check.text for check in checks_of(checklist_of(page))] == ["Check the fan speed"]


def key(name, owner=""):
    return Caller(f"key {name}", CallerKind.KEY, f"key:{name}", owner=owner)


def person(subject):
    return Caller("ann", CallerKind.PERSON, f"https://login.example.org#{subject}")


COMMENTERS = [Caller(f"{n} (jira)", CallerKind.SOURCE, f"jira:{n}") for n in ("ann", "bea", "cyd")]


@pytest.mark.parametrize(
    ("callers", "is_learned"),
    [
        ([key("bot")] * 3, False),
        ([key("a"), key("b"), key("c")], False),
        ([key("a", "eve"), key("b", "eve"), person("eve")], False),
        ([person("eve")] * 3, False),
        (COMMENTERS, False),
        ([PLATFORM] * 3, False),
        ([person("1"), person("2"), person("2")], True),
        ([key("a", "eve"), key("b", "ada"), key("c", "eve")], True),
        ([LOCAL] * 3, True),
    ],
)
def test_a_check_takes_two_teachers_and_goes_when_it_is_taken_back(
    gateway, completing, group, callers, is_learned
):
    """Names that are alike, and three tickets, are no proof of three people."""
    for number, caller in enumerate(callers, 1):
        device = f"spine-{number:02}"
        gateway.planner.workflows = [looks(f"Check the flash card of {device} with Jane Roe")]
        alert = alert_of(group, number)
        alert["alerts"][0]["labels"] |= {"oncall": "Jane Roe", "part": "card"}
        (accepted,) = gateway.post(alert, "/workflow/alertmanager")["tickets"]
        gateway.work()
        workflow = gateway.ticket(accepted["id"])["workflow_id"]
        with acting_as(caller), gateway.database.session() as session:
            put_mark(session, workflow, "s1", StepMark(state=StepState.DONE))
    gateway.planner.workflows = [looks("Check the uptime of the host")]
    (accepted,) = gateway.post(alert_of(group, 9), "/workflow/alertmanager")["tickets"]
    gateway.work()

    def suggested():
        checks = completing.of_ticket(accepted["id"]).tickets.checks
        return [(each.text, each.sources[0].said) for each in checks]

    learned = [("Check the flash card of <device> with <oncall>",) * 2] if is_learned else []
    assert suggested() == learned
    if is_learned:
        teaching = TeachingService(gateway.database, gateway.outbox)
        name = callers[0].id or callers[0].name
        teaching.withdraw(TeachingWithdrawal(caller=name))
        assert suggested() == []
        teaching.restore(name)
        assert suggested() == learned


def test_beyond_the_bound_of_a_day_nothing_is_learned(gateway):
    with acting_as(person("1")), gateway.database.session() as session:
        counted = [record_teaching(session, ticket_subject(str(n))) for n in range(MOST_A_DAY + 1)]
        again = record_teaching(session, ticket_subject("0"))
    with acting_as(key("a", "1")), gateway.database.session() as session:
        by_key = record_teaching(session, ticket_subject("another"))
    assert (counted, again, by_key) == ([True] * MOST_A_DAY + [False], True, False)
    beyond = [each.beyond for each in TeachingService(gateway.database, gateway.outbox).teachers()]
    assert sorted(beyond) == [1, 1]
