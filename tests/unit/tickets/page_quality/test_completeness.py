"""What others check is told beside the workflow, with its sources, or why nothing is."""

from itertools import pairwise

import pytest

from services.contracts.retrieval import PageReading
from services.knowledge.embedding.embedders import HashingEmbedder
from services.runbook.inspections import checks_of
from services.runbook.ports import ServedReading
from services.tickets.page_quality.completeness import CompletenessService, own_checks
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


def test_what_three_pages_of_the_kind_check_is_told_with_their_lines(completing, planned, group):
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
        provenance=Provenance(planner="extractive"),
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
