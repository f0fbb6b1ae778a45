"""What was seen of pages comes together, and goes away with the lines that it is about."""

import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from services.contracts.coverage import FindingKind
from services.contracts.execution import FailedCommand
from services.contracts.ingestion import Decay, DecayKind, IngestedDocument
from services.gateway.app import create_app
from services.gateway.parts import GatewayParts
from services.gateway.work import GatewayWork
from services.kit.access.caller import Caller, CallerKind
from services.kit.access.keys import Keys
from services.kit.access.scopes import Scope
from services.kit.errors import NotFoundError, UnavailableError
from services.kit.settings import PlatformSettings
from services.knowledge.model import Document
from services.tickets.page_quality.queries import WEEK_S
from services.tickets.page_quality.service import CoverageService
from services.tickets.settings import GatewaySettings
from services.web.ui.knowledge import coverage as pages
from services.web.ui.knowledge.backend import Knowledge
from tests.unit.gateway.fakes import RUNBOOK

NOW = datetime.now(UTC)
LINES = [f"line {number}" for number in range(1, 41)]
LINES[11] = "Show the fans with `show environment fan`"


class FakeIngestion:
    """One page, and what came apart."""

    def __init__(self):
        self.lines = list(LINES)
        self.decayed = []
        self.is_gone = False

    def document(self, document_id):
        if self.is_gone or document_id != RUNBOOK:
            raise NotFoundError("gone")
        return Document(id=RUNBOOK, title="Fan", text="\n".join(self.lines), content_hash="x")

    def documents(self, query):
        fields = {"media_type": "text/markdown", "source": "/x", "chunks": 1, "updated_at": 0}
        page = IngestedDocument(id=RUNBOOK, title="Fan", nodes=1, owner="net", **fields)
        return [] if query.after or self.is_gone else [page]

    def decay(self):
        return self.decayed


class FakeExecution:
    """What runs saw."""

    def __init__(self):
        self.failed = []
        self.is_down = False

    def failed_commands(self, *, weeks):
        if self.is_down:
            raise UnavailableError("away")
        return self.failed


@pytest.fixture
def ingestion():
    return FakeIngestion()


@pytest.fixture
def execution():
    return FakeExecution()


@pytest.fixture
def mending(gateway, ingestion, execution):
    return CoverageService(
        gateway.database,
        retrieval=gateway.retrieval,
        ingestion=ingestion,
        execution=lambda: execution,
        fit_of=lambda _: None,
    )


@pytest.fixture
def failed(execution):
    execution.failed = [
        FailedCommand(
            document_id=RUNBOOK,
            start_line=12,
            end_line=12,
            command="show environment fan",
            target="leaf-1",
            answer="% Invalid input",
            times=2,
            first_at=NOW,
            last_at=NOW,
            runs=("r1",),
            tickets=("t1",),
        )
    ]


def findings_of(mending):
    return [each for page in mending.pages_to_mend(weeks=4).pages for each in page.findings]


def test_nothing_that_was_seen_is_nothing_to_mend(mending):
    assert mending.pages_to_mend(weeks=4).pages == ()


def test_a_command_that_failed_stands_at_its_line_with_its_runs(mending, failed):
    (page,) = mending.pages_to_mend(weeks=4).pages
    assert (page.document_id, page.owner) == (RUNBOOK, "net")
    (finding,) = page.findings
    assert (finding.kind, finding.start_line, finding.runs) == (
        FindingKind.COMMAND_FAILS,
        12,
        ("r1",),
    )
    assert finding.seen == "not understood in 2 runs, last by leaf-1: “% Invalid input”"


def test_a_finding_moves_with_its_line_and_goes_away_with_it(mending, failed, ingestion):
    ingestion.lines.insert(0, "a new line")
    assert findings_of(mending)[0].start_line == 13
    ingestion.lines[12] = "Show the fans with `show fan`"
    assert findings_of(mending) == []


def test_a_page_that_is_gone_has_nothing_to_mend(mending, failed, ingestion):
    ingestion.is_gone = True
    assert mending.pages_to_mend(weeks=4).pages == ()


def test_without_the_executor_the_rest_is_told_and_what_is_missing(mending, execution, ingestion):
    execution.is_down = True
    ingestion.decayed = [decay(DecayKind.LINK, "gone.md", was=("net/gone.md",))]
    report = mending.pages_to_mend(weeks=4)
    assert report.without == ("executor",)
    assert report.pages[0].findings[0].seen == "led to net/gone.md, which is gone"


def decay(kind, quote, **more):
    return Decay(kind=kind, document_id=RUNBOOK, line=3, said=quote, since=NOW, **more)


def test_a_name_that_a_ticket_has_of_late_is_not_gone(mending, ingestion, gateway):
    ingestion.decayed = [decay(DecayKind.NAME, "fan-ctl", was=("a.md", "b.md"), others=2)]
    assert [each.kind for each in findings_of(mending)] == [FindingKind.NAME_GONE]
    gateway.post({"id": "T-1", "title": "FAN-CTL does not answer"})
    assert findings_of(mending) == []


def planned(gateway, name):
    ticket_id = gateway.post({"id": name, "title": "Fan 2 of spine-01 failed"})["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


def test_a_step_that_somebody_rejected_is_told_until_somebody_does_it(mending, gateway, ingestion):
    ingestion.lines[11:14] = ["Show the fans", "show environment fan", "line 14"]
    ticket = planned(gateway, "T-1")
    step = f"/v1/workflows/{ticket['workflow_id']}/steps/look"
    gateway.client.put(
        f"{step}/judgement", json={"verdict": "rejected", "word": "spine-01 has no such command"}
    )
    (finding,) = findings_of(mending)
    assert (finding.kind, finding.tickets) == (FindingKind.STEP_REFUSED, (ticket["id"],))
    assert finding.seen == "rejected on one ticket: “<value> has no such command”"
    later = planned(gateway, "T-2")
    step = f"/v1/workflows/{later['workflow_id']}/steps/look"
    gateway.client.put(f"{step}/mark", json={"state": "done"})
    assert findings_of(mending) == []


class FakeProposals:
    """Nothing is proposed."""

    def proposals(self, _state):
        return []


def client_of(gateway, ingestion, execution, api_key=None):
    """A gateway that knows of the page."""
    knowledge = Knowledge(ingestion, lambda _caller: None, gateway.retrieval, FakeProposals())
    app = create_app(
        GatewayParts(
            GatewaySettings(_env_file=None),
            PlatformSettings(_env_file=None, api_key=api_key),
            database=gateway.database,
            outbox=gateway.outbox,
            retrieval=gateway.retrieval,
            triage=gateway.triage,
            knowledge=knowledge,
            execution=(lambda: execution) if execution else None,
            write_back=None,
        )
    )
    return TestClient(app, base_url="http://127.0.0.1")


@pytest.fixture
def client(gateway, ingestion, execution):
    return client_of(gateway, ingestion, execution)


def listed_findings(client, **query):
    pages = client.get("/v1/coverage/pages", params=query).json()["pages"]
    return [each for page in pages for each in page["findings"]]


def dismissed(client, key="", why="only of the old release"):
    body = {"key": key or listed_findings(client)[0]["key"], "why": why}
    return client.post("/v1/coverage/dismissals", json=body)


def test_what_is_all_right_is_told_no_more_until_somebody_takes_it_back(client, failed):
    dismissal = dismissed(client).json()
    assert (dismissal["dismissed_by"], dismissal["why"]) == ("local", "only of the old release")
    assert listed_findings(client) == []
    assert listed_findings(client, dismissed=True) == [dismissal]
    client.delete(f"/v1/coverage/dismissals/{dismissal['key']}")
    assert [each["dismissed_by"] for each in listed_findings(client)] == [""]


def test_it_is_all_right_wherever_the_words_stand_and_other_words_are_not(
    client, failed, ingestion, execution
):
    dismissed(client)
    ingestion.lines.insert(0, "a new line")
    assert listed_findings(client) == []
    ingestion.lines[12] = "Show the fans with `show fan`"
    execution.failed = [execution.failed[0].model_copy(update={"command": "show fan"})]
    assert [each["said"] for each in listed_findings(client)] == ["show fan"]


def test_who_said_so_and_who_took_it_back_stand_in_the_audit_log_once(client, failed):
    key = dismissed(client, why="private words").json()["key"]
    dismissed(client, key, "said better")
    assert listed_findings(client, dismissed=True)[0]["why"] == "said better"
    for _ in range(2):
        assert client.delete(f"/v1/coverage/dismissals/{key}").status_code == 204
    lines = client.get("/v1/audit", params={"action": "finding"}).json()["lines"]
    actions = [each["action"] for each in lines]
    assert actions == ["finding.restored", "finding.dismissed", "finding.dismissed"]
    assert {each["subject"] for each in lines} == {f"document {RUNBOOK}"}
    assert "private words" not in str(lines)


def test_what_is_no_finding_and_what_has_no_reason_is_refused(client, failed, execution):
    assert dismissed(client, key="nothing").status_code == 404
    assert dismissed(client, why="   ").status_code == 422
    key = listed_findings(client)[0]["key"]
    execution.is_down = True
    assert dismissed(client, key=key).status_code == 503


def test_a_finding_is_found_by_the_weeks_that_it_was_told_of(
    client, ingestion, gateway, monkeypatch
):
    gateway.post({"id": "T-1", "title": "FAN-CTL does not answer"})
    later = SimpleNamespace(time=lambda: time.time() + 20 * WEEK_S)
    monkeypatch.setattr("services.tickets.page_quality.service.time", later)
    ingestion.decayed = [decay(DecayKind.NAME, "fan-ctl", was=("a.md", "b.md"), others=2)]
    assert listed_findings(client, weeks=52) == []
    assert dismissed(client).status_code == 200


def test_people_say_so_on_the_page_and_see_it_there_without_markup(client, failed):
    address = "/knowledge/coverage/pages"
    assert "Say that it is all right" in client.get(address).text
    fields = {"key": listed_findings(client)[0]["key"], "weeks": "4"}
    forms = "/knowledge/coverage/dismissals"
    response = client.post(forms, data={**fields, "why": "<i>fine</i>"}, follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (303, f"{address}?weeks=4")
    assert "show environment fan" not in client.get(address).text
    shown = client.get(f"{address}?dismissed=true").text
    assert "local says that it is all right: &lt;i&gt;fine&lt;/i&gt;" in shown
    undone = client.post(f"{forms}/undo", data=fields, follow_redirects=False)
    assert undone.headers["location"] == f"{address}?weeks=4&dismissed=true"
    assert "show environment fan" in client.get(address).text
    assert client.post(forms, data={**fields, "why": " "}).status_code == 422
    assert client.post(forms, data={"key": "nothing", "why": "x"}).status_code == 404


def test_each_way_in_which_people_refuse_a_step_is_a_finding_of_its_own(client, gateway, ingestion):
    ingestion.lines[11:14] = ["Show the fans", "show environment fan", "line 14"]
    steps = [
        f"/v1/workflows/{planned(gateway, f'T-{n}')['workflow_id']}/steps/look" for n in range(3)
    ]
    for step in steps:
        gateway.client.put(f"{step}/mark", json={"state": "skipped", "why": "it hangs"})
    dismissed(client)
    assert listed_findings(client) == []
    gateway.client.put(f"{steps[0]}/judgement", json={"verdict": "rejected", "word": "it breaks"})
    assert [each["seen"] for each in listed_findings(client)] == [
        "rejected on one ticket: “it breaks”"
    ]


def test_a_step_whose_condition_does_not_hold_is_refused_by_nobody(client, gateway, ingestion):
    ingestion.lines[11:14] = ["Show the fans", "show environment fan", "line 14"]
    for number in range(3):
        step = f"/v1/workflows/{planned(gateway, f'T-{number}')['workflow_id']}/steps/look"
        marked = gateway.client.put(f"{step}/mark", json={"state": "not_applicable"})
        assert marked.status_code == 200
    assert listed_findings(client) == []


def test_who_may_only_read_sees_what_is_all_right_and_no_form(client, failed, monkeypatch):
    address = "/knowledge/coverage/pages?dismissed=true"
    assert 'action="/knowledge/coverage/dismissals"' in client.get(address).text
    reader = Caller("reader", CallerKind.KEY, scopes=frozenset({Scope.READ}))
    monkeypatch.setattr(pages, "current_caller", lambda: reader)
    assert "/knowledge/coverage/dismissals" not in client.get(address).text
    dismissed(client)
    page = client.get(address).text
    assert "local says that it is all right: only of the old release" in page
    assert "/knowledge/coverage/dismissals" not in page


def refusals(client, key, **headers):
    """What each way of saying so is answered."""
    sent, form = {"key": key, "why": "x"}, "/knowledge/coverage/dismissals"
    return [
        client.post("/v1/coverage/dismissals", json=sent, headers=headers).status_code,
        client.post(form, data=sent, headers=headers).status_code,
        client.post(f"{form}/undo", data=sent, headers=headers).status_code,
    ]


def test_another_sites_form_says_nothing(client, failed):
    key = listed_findings(client)[0]["key"]
    assert refusals(client, key, origin="https://elsewhere.example") == [403, 403, 403]
    assert listed_findings(client)


def test_a_key_that_may_only_read_says_nothing(client, gateway, ingestion, execution, failed):
    key = listed_findings(client)[0]["key"]
    closed = client_of(gateway, ingestion, execution, SecretStr("a-key-of-enough-characters"))
    reader = {"x-api-key": Keys(gateway.database).create("reader", frozenset({Scope.READ}))}
    assert refusals(closed, key, **reader) == [403, 403, 403]
    assert closed.get("/v1/coverage/pages", headers=reader).json()["pages"]


@pytest.fixture
def every_so_often(gateway, ingestion, monkeypatch):
    """What workers do beside tasks, by its name."""
    done = {}
    monkeypatch.setattr(
        "services.gateway.work.Periodic", lambda name, work, **_: done.setdefault(name, work)
    )
    parts = GatewayParts(
        GatewaySettings(_env_file=None),
        PlatformSettings(_env_file=None),
        gateway.database,
        gateway.outbox,
        gateway.retrieval,
        gateway.triage,
        gateway.write_back,
    )
    GatewayWork(parts, ingestion, gateway.planner, gateway.scorer).periodic()
    return done


def test_what_was_said_of_a_page_goes_when_the_page_is_forgotten(
    client, failed, ingestion, every_so_often
):
    dismissed(client)
    every_so_often["dismissals"]()
    assert listed_findings(client) == []
    ingestion.is_gone = True
    every_so_often["dismissals"]()
    ingestion.is_gone = False
    assert [each["dismissed_by"] for each in listed_findings(client)] == [""]


def test_while_nobody_knows_which_pages_are_there_nothing_is_forgotten(
    client, failed, ingestion, every_so_often, monkeypatch
):
    dismissed(client)

    def away(_query):
        raise UnavailableError("away")

    with monkeypatch.context() as broken:
        broken.setattr(ingestion, "documents", away)
        with pytest.raises(UnavailableError):
            every_so_often["dismissals"]()
    assert listed_findings(client) == []
