"""Where links of a page lead: into it, to another document at its heading, or out of here."""

import pytest
from fastapi.testclient import TestClient

from services.gateway.app import create_app
from services.gateway.parts import GatewayParts
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.page.parsing import parse_page
from services.tickets.settings import GatewaySettings
from services.web.ui.knowledge.backend import Knowledge
from services.web.ui.page_links import PageLinks
from tests.unit.gateway.fakes import FakeRetrieval
from tests.unit.ingestion.harness import IngestionHarness
from tests.unit.ingestion.proposing import proposals_of

DNS = "# Name servers\n\nText.\n\n## Flush the cache\n\n1. Flush it.\n"


@pytest.fixture
def client(tmp_path):
    ingestion = IngestionHarness(tmp_path)
    ingestion.write("net/dns.md", DNS)
    ingestion.write("runbooks/pump.md", "# Pump\n\n1. See the other.\n")
    ingestion.ingest()
    database = Database.memory()
    database.migrate("kit", "gateway")
    knowledge = Knowledge(
        ingestion.service,
        lambda caller: ingestion.service.readings(caller.name),
        FakeRetrieval(),
        proposals_of(ingestion),
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
    yield TestClient(
        app, base_url="http://127.0.0.1", headers={"accept": "text/html"}, follow_redirects=False
    )
    database.close()


def follow(client, to, document="runbooks/pump.md"):
    return client.get("/knowledge/link", params={"from": document, "to": to})


@pytest.mark.parametrize(
    ("to", "address"),
    [
        ("../net/dns.md", "/knowledge/document/net/dns.md"),
        ("/net/dns", "/knowledge/document/net/dns.md"),
        ("../net/dns.md#flush-the-cache", "/knowledge/document/net/dns.md?from=1#L5"),
        ("../net/dns.md#gone", "/knowledge/document/net/dns.md"),
    ],
)
def test_a_link_leads_to_the_document_and_the_heading_that_it_means(client, to, address):
    answer = follow(client, to)
    assert (answer.status_code, answer.headers["location"]) == (303, address)
    assert client.get(address.partition("#")[0]).status_code == 200


def test_a_link_to_nothing_known_says_so(client):
    for to in ["gone.md", "https://x.example/a", "../../../etc/passwd", "", "#x", "http://[broken"]:
        answer = follow(client, to)
        assert answer.status_code == 404
        assert "no document is known" in answer.text


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("https://x.example/a?b=c", "https://x.example/a?b=c"),
        ("javascript:alert(1)", ""),
        ("JaVaScRiPt:alert(1)", ""),
        ("java\nscript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("mailto:a@b.example", ""),
        ("//x.example/a", ""),
        ("http://[broken", ""),
        ("../../outside.md", ""),
        ("#nowhere", ""),
        ("dns.md", "/knowledge/link?from=net%2Fpage.md&to=dns.md"),
    ],
)
def test_only_addresses_of_the_web_and_of_documents_are_followed(written, address):
    links = PageLinks(parse_page("# Page\n"), "net/page.md")
    target = links.target(written)
    assert (target.address, target.written) == (address, written.strip())


@pytest.mark.parametrize("fragment", ["#flush-the-cache", "#FlushTheCache", "#flush_the_cache"])
@pytest.mark.parametrize("path", ["", "page.md", "./page.md", "../net/page.md"])
def test_an_anchor_of_the_page_itself_stays_on_it(fragment, path):
    page = parse_page(DNS)
    links = PageLinks(page, "net/page.md")
    heading = page.blocks[2]
    assert links.target(path + fragment).address == f"#at-{heading.key}"
