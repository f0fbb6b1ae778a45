"""Who may do what on the pages of what is known."""

import re
from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from services.contracts.ingestion import Ownership
from services.gateway.app import create_app
from services.gateway.parts import GatewayParts
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.screening.document import hash_of
from services.tickets.settings import GatewaySettings
from services.web.ui.knowledge.backend import Knowledge
from tests.unit.gateway.fakes import FakeRetrieval
from tests.unit.ingestion.harness import IngestionHarness
from tests.unit.ingestion.proposing import page, proposals_of

PAGE = "# Fan stands still\n\n1. Look at the tray.\n2. Seat the fan.\n"
KEY = "a-key-of-enough-characters"
BROWSER = {"accept": "text/html"}


@pytest.fixture
def ingestion(tmp_path):
    return IngestionHarness(tmp_path)


@pytest.fixture
def client_of(ingestion):
    """A gateway with one ingested page, with a key or with access off."""
    ingestion.write("fan.md", PAGE)
    ingestion.ingest()
    database = Database.memory()
    database.migrate("kit", "gateway")

    def make(api_key=None, *, with_knowledge=True):
        knowledge = Knowledge(
            ingestion.service,
            lambda caller: ingestion.service.readings(caller.name),
            FakeRetrieval(),
            proposals_of(ingestion),
        )
        app = create_app(
            GatewayParts(
                GatewaySettings(_env_file=None),
                PlatformSettings(_env_file=None, api_key=SecretStr(api_key) if api_key else None),
                database=database,
                outbox=Outbox(database),
                retrieval=FakeRetrieval(),
                triage=None,
                knowledge=knowledge if with_knowledge else None,
                write_back=None,
            )
        )
        headers = BROWSER | ({"x-api-key": api_key} if api_key else {})
        return TestClient(app, base_url="http://127.0.0.1", headers=headers)

    yield make
    database.close()


def test_a_key_sees_a_reading_and_no_form_that_only_people_may_send(client_of):
    client, address = client_of(KEY), f"/knowledge/readings/{hash_of(PAGE)}"
    shown = client.get(address)
    assert shown.status_code == 200
    assert "Fan stands still" in shown.text
    assert 'method="post"' not in shown.text
    for form, data in (
        ("/approvals", {"procedure": "0", "revision": "x", "kind": "workflow"}),
        ("/answers", {"doubt": "d1", "answer": "0", "revision": "x"}),
        ("/undo", {"event": "1"}),
        ("/block-edits", {"edit": "split", "block": "x"}),
        ("", {"reading": "{}", "revision": "x"}),
    ):
        refused = client.post(f"{address}{form}", data=data)
        assert refused.status_code == 403
        assert "approve" in refused.text


def test_a_key_sees_a_proposed_page_and_decides_nothing(client_of, ingestion):
    proposal = proposals_of(ingestion).propose(page())
    client, address = client_of(KEY), f"/knowledge/proposals/{proposal.id}"
    shown = client.get(address)
    assert "Pump pressure low" in shown.text
    assert 'method="post"' not in shown.text
    for form in ("acceptance", "rejection", "withdrawal"):
        assert client.post(f"{address}/{form}", data={"text_hash": "x"}).status_code == 403
    assert f'action="{address}/acceptance"' in client_of().get(address).text


def test_who_may_approve_sees_the_forms(client_of):
    client, address = client_of(), f"/knowledge/readings/{hash_of(PAGE)}"
    unread = client.get(address)
    assert "nobody has read it" in unread.text
    for form in ("approvals", "block-edits", "undo"):
        assert f'action="{address}/{form}"' in unread.text
    assert 'name="reading"' in unread.text


def test_a_page_is_approved_as_a_checklist_and_then_its_decisions_too(client_of):
    client, text_hash = client_of(), hash_of(PAGE)
    address = f"/knowledge/readings/{text_hash}"
    unread = client.get(address).text
    assert ("The boxes are right" in unread, "Its decisions too" in unread) == (True, True)

    def approve(kind):
        (revision,) = set(re.findall(r'name="revision" value="(\w+)"', client.get(address).text))
        form = {"procedure": "0", "revision": revision, "kind": kind}
        return client.post(f"{address}/approvals", data=form).text

    assert "that was not taken" not in (checked := approve("checklist")).lower()
    assert "Approved as a checklist: its decisions were never asked for" in checked
    assert "The boxes are right" not in checked
    listed = client.get("/knowledge/readings?state=checklist").text
    assert "approved as a checklist</span>: its decisions were never asked for" in listed
    approved = approve("workflow")
    assert "Its decisions too" not in approved
    assert "approved as a checklist" not in approved.lower()
    assert "never asked for" not in client.get("/knowledge/readings").text


def test_a_page_that_nobody_has_read_is_in_the_list(client_of):
    shown = client_of().get("/knowledge/readings?state=unread").text
    assert "nobody" in shown
    assert "Nobody has read it <b>1</b>" in shown


def test_an_approver_asks_the_owner_of_a_chosen_page_for_a_review(client_of, ingestion):
    ingestion.service.set_owner(Ownership(team="<b>net</b>"))
    client, due = client_of(), datetime.now(UTC).date().isoformat()
    assert 'name="document" value="fan.md"' in client.get("/knowledge/readings").text
    for form, status in (
        ({"document": "fan.md", "due": "2020-01-01"}, 422),
        ({"document": "fan.md"}, 422),
        ({"document": "gone.md", "due": due}, 404),
    ):
        assert client.post("/knowledge/reviews", data=form).status_code == status
    shown = client.post("/knowledge/reviews", data={"document": "fan.md", "due": due})
    assert f'asks for a review by <time datetime="{due}">' in shown.text
    assert "&lt;b&gt;net" in shown.text
    assert "<b>net</b>" not in shown.text
    taken_back = client.post("/knowledge/reviews", data={"document": "fan.md", "withdraw": "1"})
    assert "asks for a review" not in taken_back.text
    key = client_of(KEY)
    assert 'name="document"' not in key.get("/knowledge/readings").text
    refused = key.post("/knowledge/reviews", data={"document": "fan.md", "due": due})
    assert refused.status_code == 403


@pytest.mark.parametrize(
    "page",
    [
        "readings",
        "proposals",
        "documents",
        "document/fan.md",
        "upload",
        "coverage",
        "forget?root={root}",
    ],
)
def test_nothing_is_shown_without_a_key(client_of, page):
    client = client_of(KEY)
    del client.headers["x-api-key"]
    answer = client.get(f"/knowledge/{page}")
    assert answer.status_code == 401
    address = f"/knowledge/{page}"  # the page to sign in leads back there
    assert "fan.md" not in answer.text.replace(address, "")


def test_what_is_not_there_is_a_page_that_says_so(client_of):
    client = client_of()
    for address in (
        "readings/none",
        "proposals/none",
        "document/none.md",
        "jobs/none",
        "forget?root=/none",
    ):
        answer = client.get(f"/knowledge/{address}")
        assert answer.status_code == 404, address
        assert "<h1>Not found</h1>" in answer.text


def test_a_gateway_without_the_services_says_so(client_of):
    answer = client_of(with_knowledge=False).get("/knowledge/readings")
    assert answer.status_code == 503
    assert "ingestion" in answer.text
