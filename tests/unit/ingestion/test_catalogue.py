"""Documents as people look for them, and what it costs to forget one."""

import io

import pytest
from fastapi.testclient import TestClient

from services.contracts.ingestion import (
    DocumentQuery,
    ForgetRequest,
    IngestionClient,
    JobStatus,
    LinkQuery,
    Ownership,
    Upload,
)
from services.contracts.readings import ApprovalRequest
from services.ingestion.app import create_app
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.http.client import ServiceClient
from services.kit.settings import PlatformSettings
from services.knowledge.screening.document import hash_of
from services.runbook.store.sql_readings import SqlReadingStore
from tests.readings import reading_of_list

FAN = "# Fan stands still\n\n1. Look at the tray.\n2. Seat the fan.\n"


@pytest.fixture
def client(harness):
    """The contract over HTTP."""
    service = harness.service
    app = create_app(
        PlatformSettings(),
        service=service,
        syncs=None,
        readings=lambda caller: service.readings(caller.name),
        proposals=None,
    )
    with TestClient(app, base_url="http://127.0.0.1") as http:
        over_http = ServiceClient("http://127.0.0.1")
        over_http._client = http
        yield IngestionClient(over_http)


def uploaded(harness, client, **files):
    sent = [Upload(f"{name}.md", io.BytesIO(text.encode())) for name, text in files.items()]
    harness.run_queued(client.upload(sent))
    return next(root.path for root in client.roots() if root.is_upload)


class TestLooking:
    def test_documents_are_found_by_folder_and_by_words_of_id_and_title(self, harness, client):
        for name in ("net/bgp/a.md", "net/b.md", "100%_c.md"):
            harness.write(name, f"# About {name[0]}\n\nText.\n")
        harness.ingest()
        search = lambda **query: [each.id for each in client.documents(DocumentQuery(**query))]  # noqa: E731
        assert search(under="net/") == ["net/b.md", "net/bgp/a.md"]
        assert search(text="ABOUT n bgp") == ["net/bgp/a.md"]
        assert search(text="%") == ["100%_c.md"]
        assert search(root="/nowhere") == []

    def test_folders_count_what_is_below_them(self, harness, client):
        for name in ("net/bgp/a.md", "net/bgp/b.md", "net/c.md", "d.md"):
            harness.write(name, f"# {name}\n")
        harness.ingest()
        folders = [(each.path, each.documents) for each in client.folders()]
        assert folders == [("net/", 3)]
        assert [each.path for each in client.folders(under="net/")] == ["net/bgp/"]

    def test_a_document_tells_its_lines_chunks_incidents_and_team(self, harness, client):
        harness.write("net/fan.md", FAN)
        harness.ingest()
        client.set_owner(Ownership(prefix="net", team="network"))
        contents = client.contents("net/fan.md")
        assert contents.lines[0] == "# Fan stands still"
        assert (contents.document.owner, contents.document.text_hash) == ("network", hash_of(FAN))
        assert len(contents.chunks) == contents.document.chunks > 0
        assert all(1 <= each.start_line <= each.end_line <= 5 for each in contents.chunks)
        with pytest.raises(NotFoundError):
            client.contents("nobody.md")


class TestForgetting:
    def test_one_uploaded_document_goes_alone_and_says_what_it_costs(self, harness, client):
        root = uploaded(harness, client, fan=FAN, power="# Power\n\n1. Swap the supply.\n")
        SqlReadingStore(harness.database).put(hash_of(FAN), reading_of_list(FAN))
        harness.service.readings("x").approve(hash_of(FAN), ApprovalRequest(procedure=0))
        request = ForgetRequest(root=root, document="fan.md")
        cost = client.removal_cost(request)
        assert (cost.documents, cost.approved) == (1, 1)
        job = client.forget(request)
        harness.forget_queued(job.id)
        done = client.job(job.id)
        assert (done.status, done.deleted, done.approved_deleted) == (JobStatus.DONE, 1, 1)
        assert [each.id for each in client.documents()] == ["power.md"]

    def test_what_another_document_keeps_is_not_lost(self, harness, client):
        root = uploaded(harness, client, fan=FAN, copy=FAN)
        SqlReadingStore(harness.database).put(hash_of(FAN), reading_of_list(FAN))
        harness.service.readings("x").approve(hash_of(FAN), ApprovalRequest(procedure=0))
        assert client.removal_cost(ForgetRequest(root=root, document="fan.md")).approved == 0
        assert client.removal_cost(ForgetRequest(root=root)).approved == 1

    def test_a_document_that_the_next_ingest_would_bring_back_is_not_forgotten(
        self, harness, client
    ):
        harness.write("fan.md", FAN)
        harness.ingest()
        (root,) = client.roots()
        with pytest.raises(InvalidInputError, match="not uploaded"):
            client.forget(ForgetRequest(root=root.path, document="fan.md"))

    def test_a_document_that_nobody_uploaded_is_not_found(self, harness, client):
        root = uploaded(harness, client, fan=FAN)
        with pytest.raises(NotFoundError):
            client.forget(ForgetRequest(root=root, document="other.md"))


def test_links_of_a_page_are_found_among_the_documents(harness, client):
    for name in ("net/a.md", "net/b.md"):
        harness.write(name, "# A page\n\nText.\n")
    harness.ingest()
    query = LinkQuery(document_id="net/a.md", links=("b.md#part", "c.md", "a.md"))
    assert client.linked(query) == {"b.md#part": "net/b.md", "a.md": "net/a.md"}
