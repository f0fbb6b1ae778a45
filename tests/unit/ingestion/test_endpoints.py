import pytest
from fastapi.testclient import TestClient

from services.contracts.ingestion import (
    DocumentQuery,
    ForgetRequest,
    IngestedRoot,
    IngestionClient,
    IngestRequest,
    JobStatus,
    Upload,
)
from services.ingestion.app import create_app
from services.kit.errors import InvalidInputError, NotFoundError, PayloadTooLargeError
from services.kit.http.client import ServiceClient
from services.kit.settings import PlatformSettings
from tests.unit.ingestion.harness import IngestionHarness, counters


@pytest.fixture
def harness(tmp_path):
    return IngestionHarness(tmp_path, allowed_roots=(tmp_path / "docs",), max_upload_bytes=1000)


@pytest.fixture
def http(harness):
    service = harness.service
    app = create_app(
        PlatformSettings(),
        service=service,
        syncs=None,
        readings=lambda caller: service.readings(caller.name),
        proposals=None,
        ingestion_settings=harness.settings,
    )
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def client(http):
    service = ServiceClient("http://127.0.0.1")
    service._client = http
    return IngestionClient(service)


def test_an_upload_is_accepted_and_can_be_watched(harness, http, client):
    answer = http.post("/v1/documents", files=[("files", ("a b.md", b"# A\n\nLinkDown\n"))])
    assert answer.status_code == 202
    job = client.job(answer.json()["id"])
    assert job.status is JobStatus.QUEUED
    harness.run_queued(job)
    assert counters(client.job(job.id)) == {"added": 1}
    assert [each.id for each in client.documents()] == ["a b.md"]
    assert client.document("a b.md").title == "A"
    events = http.get(f"/v1/ingestions/{job.id}/events").text
    assert "event: job" in events
    assert '"done"' in events


def test_the_client_speaks_the_whole_contract(harness, client, tmp_path):
    path = harness.write("sub/a.md", "# A\n")
    with path.open("rb") as content:
        uploaded = client.upload([Upload("up.md", content)])
    job = client.ingest(IngestRequest(path=str(harness.root)))
    for each in (uploaded, job):
        harness.run_queued(each)
    assert [each.id for each in client.jobs(limit=5)] == [job.id, uploaded.id]
    assert client.document("sub/a.md").text == "# A\n"
    assert [each.id for each in client.documents(DocumentQuery(after="sub/a.md", limit=1))] == [
        "up.md"
    ]


def test_the_client_lists_roots_and_has_one_forgotten(harness, client):
    harness.write("a.md", "# A\n")
    harness.ingest()
    root = str(harness.root)
    assert client.roots() == [IngestedRoot(path=root, documents=1, outdated=0, is_there=True)]
    job = client.forget(ForgetRequest(root=f"{root}/"))
    assert (job.status, client.roots()[0].documents) == (JobStatus.QUEUED, 1)
    harness.outbox.run(f"ingestion.forget_root:{job.id}", harness.forget_queued)
    assert counters(client.job(job.id)) == {"deleted": 1}
    assert (client.roots(), client.documents()) == ([], [])
    assert harness.outbox.counts() == {"waiting": 0, "parked": 0}


@pytest.mark.parametrize("root", ["", "/", "/etc", "a\0b", "docs", "x" * 100_000])
def test_a_root_that_is_not_known_is_not_forgotten(root, harness, client):
    harness.write("a.md", "# A\n")
    harness.ingest()
    with pytest.raises(NotFoundError, match="v1/roots"):
        client.forget(ForgetRequest(root=root))
    assert [job.status for job in client.jobs()] == [JobStatus.DONE]


def test_refusals_come_back_as_what_they_are(client, harness):
    with pytest.raises(InvalidInputError, match="allowed roots"):
        client.ingest(IngestRequest(path="/etc"))
    for ask in (client.job, client.document):
        with pytest.raises(NotFoundError):
            ask("no/such")


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ([("files", ("../a.md", b"x"))], 422),
        ([("files", ("..", b"x"))], 422),
        ([("wrong", ("a.md", b"x"))], 422),
        ([("files", ("a.md", b"x")), ("files", ("a.md", b"x"))], 422),
        ([("files", ("a.md", b"x" * 1001))], 413),
        ([("files", ("a.md", b"x" * 2_000_000))], 413),
    ],
)
def test_bad_uploads_get_a_clear_refusal(http, harness, files, status):
    answer = http.post("/v1/documents", files=files)
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "detail"}
    assert not (harness.root.parent / "a.md").exists()


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"path": 1}', b'{"path": "a\\u0000b"}', b'{"path": "/etc", "prune": 7}'],
)
def test_bad_requests_get_a_clear_refusal(http, body):
    answer = http.post("/v1/ingestions", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in {400, 422}
    assert set(answer.json()) == {"error", "detail"}


def test_too_large_an_upload_is_refused_by_the_service_too(client, tmp_path):
    big = tmp_path / "big.md"
    big.write_bytes(b"x" * 2000)
    with big.open("rb") as content, pytest.raises(PayloadTooLargeError):
        client.upload([Upload("big.md", content)])
