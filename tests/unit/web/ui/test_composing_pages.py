"""The page that drafts a procedure, and the field that takes a change of a reading in words."""

import json
import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from services.gateway.app import create_app
from services.gateway.parts import GatewayParts
from services.ingestion.proposals.service import ProposalService
from services.ingestion.settings import IngestionSettings
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.llm.scripted import ScriptedChatModel
from services.runbook.checking.check import parse_reading
from services.runbook.model import as_json
from services.tickets.settings import GatewaySettings
from services.web.ui.knowledge.backend import Knowledge
from tests.unit.gateway.fakes import FakeRetrieval
from tests.unit.ingestion.harness import IngestionHarness
from tests.unit.planner.composing.catalogue import composer
from tests.unit.planner.composing.test_edits import FAN, HASH, PAGE

ADDRESS = f"/knowledge/readings/{HASH}"


@pytest.fixture
def ingestion(tmp_path):
    ingestion = IngestionHarness(tmp_path)
    ingestion.write("fan.md", PAGE)
    ingestion.ingest()
    ingestion.service.readings("kim").replace(HASH, parse_reading({"procedures": [FAN]}))
    return ingestion


@pytest.fixture
def proposals(ingestion):
    return ProposalService(ingestion.database, Outbox(ingestion.database), IngestionSettings())


@pytest.fixture
def model():
    reply = {"action": {"operations": [{"op": "guard", "nodes": ["n3"], "how": "remove"}]}}
    return ScriptedChatModel(
        lambda request: [json.dumps(reply) if request.prompt.startswith("edit") else "nothing"]
    )


@pytest.fixture
def client(ingestion, proposals, model):
    database = Database.memory()
    database.migrate("kit", "gateway")
    readings = ingestion.service.readings("kim")
    knowledge = Knowledge(
        ingestion.service,
        lambda caller: ingestion.service.readings(caller.name),
        FakeRetrieval(),
        proposals,
        composer(model, readings=readings),
    )
    app = create_app(
        GatewayParts(
            GatewaySettings(_env_file=None),
            PlatformSettings(_env_file=None),
            database=database,
            outbox=Outbox(database),
            retrieval=FakeRetrieval(),
            triage=None,
            knowledge=knowledge,
            write_back=None,
        )
    )
    yield TestClient(app, base_url="http://127.0.0.1", headers={"accept": "text/html"})
    database.close()


def sent(page, action):
    """The hidden fields of the first form that leads there."""
    form = re.search(
        rf'<form method="post" action="{re.escape(action)}".*?</form>', page, re.DOTALL
    )
    fields = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', form[0])
    return {name: unescape(value) for name, value in fields}


def test_a_sentence_is_drafted_answered_and_proposed(client, proposals):
    assert 'name="instruction"' in client.get("/compose").text
    draft = client.post("/compose", data={"instruction": "Clear the BGP session."}).text
    assert 'name="answer.s1.neighbor"' in draft
    assert 'id="propose"' not in draft
    answered = client.post(
        "/compose", data={**sent(draft, "/compose"), "answer.s1.neighbor": "10.0.0.7"}
    ).text
    assert "<svg" in answered
    assert "10.0.0.7" in answered
    done = client.post(
        "/compose/proposals", data=sent(answered, "/compose/proposals"), follow_redirects=False
    )
    (kept,) = proposals.proposals()
    assert done.headers["location"] == f"/knowledge/proposals/{kept.id}"
    assert kept.origin.value == "composed"
    assert kept.proposed_by == "local"


def test_what_destroys_asks_for_words(client, proposals):
    draft = client.post(
        "/compose", data={"instruction": "Delete a volume with all its data, volume: db1"}
    ).text
    assert "destroy with delete_volume" in draft
    fields = sent(draft, "/compose/proposals")
    refused = client.post("/compose/proposals", data=fields)
    assert refused.status_code == 422
    assert "in so many words" in refused.text
    assert not proposals.proposals()
    client.post("/compose/proposals", data={**fields, "words": "destroy with delete_volume"})
    assert len(proposals.proposals()) == 1


def test_what_is_refused_keeps_what_was_typed(client):
    page = client.post("/compose", data={"instruction": "If <b>it</b> is idle, clear the session"})
    assert page.status_code in {409, 503}
    assert "If &lt;b&gt;it&lt;/b&gt; is idle" in page.text


def test_a_broken_draft_is_refused(client):
    page = client.post("/compose", data={"draft": "{", "instruction": "x"})
    assert page.status_code == 422
    assert "cannot be read" in page.text


def test_a_change_in_words_is_looked_at_and_stored(client, ingestion):
    page = client.get(ADDRESS).text
    fields = sent(page, f"{ADDRESS}/words")
    preview = client.post(
        f"{ADDRESS}/words", data={**fields, "instruction": "Always seat the fan"}
    ).text
    assert "A condition falls away" in preview
    assert "Always seat the fan" in preview
    done = client.post(
        f"{ADDRESS}/words/edits",
        data=sent(preview, f"{ADDRESS}/words/edits"),
        follow_redirects=False,
    )
    assert done.status_code == 303
    steps = as_json(ingestion.service.readings("kim").get(HASH).reading.procedures[0])["steps"]
    assert [step.get("do") for step in steps] == [
        "Look at the tray",
        "Seat the fan",
        "Note the serial number",
    ]


def test_a_change_that_does_not_apply_is_told_with_what_was_typed(client):
    fields = sent(client.get(ADDRESS).text, f"{ADDRESS}/words")
    page = client.post(
        f"{ADDRESS}/words", data={**fields, "revision": "older", "instruction": "delete step 4"}
    )
    assert page.status_code == 409
    assert "delete step 4" in page.text
