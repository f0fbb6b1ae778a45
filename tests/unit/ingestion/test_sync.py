"""Syncs of real Git repositories and folders."""

import json
import threading
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from typing import ClassVar
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from dulwich import porcelain
from dulwich.objects import Blob, Tree
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain
from sqlalchemy import update

from services.cli.sources import _show_sync
from services.contracts.ingestion import FailedDocument
from services.contracts.readings import ApprovalRequest
from services.contracts.syncing import Synced, SyncRequest
from services.ingestion.jobs.service import PathNotAllowedError
from services.ingestion.jobs.sync_records import TELL
from services.ingestion.room import ROOM
from services.ingestion.settings import SyncSettings
from services.ingestion.sync import repository
from services.ingestion.sync.service import (
    RUN_SYNC,
    PlaceNotAllowedError,
    SourceNotFoundError,
    SyncService,
)
from services.ingestion.tables import SyncSourceRow
from services.kit.tables import OutboxRow
from services.knowledge.screening.document import hash_of
from services.runbook.store.sql_readings import SqlReadingStore
from tests.readings import reading_of_list
from tests.unit.ingestion.harness import IngestionHarness

WHO = b"Ops <ops@example.net>"
PAGE = "# Fan\n\n1. Check the fan tray.\n2. Replace the fan tray.\n"


class Syncs:
    """A stand with one repository, whose queue is worked by hand."""

    def __init__(self, folder, **settings):
        self.folder = folder / "docs" / "wiki"
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self.harness = IngestionHarness(folder, allowed_roots=(folder / "docs",))
        self.repository = porcelain.init(str(self.folder))
        self.settings = SyncSettings(**settings)
        self.harness.notifies_syncs = self.settings.callback_url is not None
        self.ingestion = self.harness.service
        self.service = SyncService(
            self.harness.database,
            self.harness.outbox,
            self.ingestion.job_service,
            folder=folder / "repositories",
            settings=self.settings,
        )

    def commit(self, **pages):
        for name, text in pages.items():
            path = self.folder / f"{name}.md"
            path.unlink() if text is None else path.write_text(text)
        porcelain.add(str(self.folder))
        return porcelain.commit(str(self.folder), b"change", committer=WHO, author=WHO).decode()

    def declare(self, **more):
        url = f"file://{self.folder}"
        return self.service.declare(SyncRequest(name="wiki", **{"location": url, **more}))

    def work(self):
        """Do all that is queued; each task ends itself, as in the queue."""
        tasks = {
            RUN_SYNC: self.service.run,
            TELL: self.service.notify,
            "ingestion.run_job": self.ingestion.run,
        }
        while True:
            with self.harness.database.session() as session:
                row = session.query(OutboxRow).first()
                key, name = (row.key, row.task) if row else ("", "")
            if not key:
                return
            self.harness.outbox.run(key, lambda name=name, **arguments: tasks[name](**arguments))

    def sync(self):
        self.service.sync("wiki")
        self.work()
        return self.service.syncs("wiki")[0]


@pytest.fixture
def syncs(tmp_path):
    return Syncs(tmp_path)


def test_only_the_changed_page_of_a_repository_is_read_again(syncs):
    first = syncs.commit(fan=PAGE, bgp="# BGP\n\nCheck the neighbour.\n")
    syncs.declare()
    began = syncs.sync()
    assert (began.status, began.added) == ("done", ("bgp.md", "fan.md"))
    assert (began.commit_before, began.commit_after) == ("", first)
    embedded = syncs.harness.embedder.texts
    second = syncs.commit(fan=PAGE + "3. Close the ticket.\n\nDone.\n")
    again = syncs.sync()
    assert (again.added, again.changed, again.deleted) == ((), ("fan.md",), ())
    assert (again.commit_before, again.commit_after) == (first, second)
    assert syncs.ingestion.job(again.job_id).unchanged == 1
    assert 0 < syncs.harness.embedder.texts - embedded < embedded


def test_a_page_that_is_gone_is_deleted_and_an_unchanged_repository_changes_nothing(syncs):
    syncs.commit(fan=PAGE, bgp="# BGP\n\nCheck the neighbour.\n")
    syncs.declare()
    syncs.sync()
    same = syncs.sync()
    assert (same.status, same.added, same.changed, same.deleted) == ("done", (), (), ())
    syncs.commit(bgp=None)
    assert syncs.sync().deleted == ("bgp.md",)
    assert list(syncs.harness.documents.hashes()) == ["fan.md"]


def test_a_lost_approval_is_written_down_and_told_with_a_signature(tmp_path):
    deliveries = []

    class CallbackHandler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            deliveries.append((self.headers["x-flowxpert-signature"], json.loads(body)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), CallbackHandler)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        syncs = Syncs(
            tmp_path,
            callback_url=f"http://127.0.0.1:{server.server_port}/syncs",
            callback_secret="a secret of syncs",
            allowed_hosts=["127.0.0.1"],
            allow_private=True,
        )
        syncs.commit(fan=PAGE)
        syncs.declare()
        syncs.sync()
        readings = syncs.ingestion.readings("Ann")
        SqlReadingStore(syncs.harness.database).put(hash_of(PAGE), reading_of_list(PAGE))
        page = readings.get(hash_of(PAGE))
        readings.approve(page.text_hash, ApprovalRequest(procedure=0))
        syncs.commit(fan="# Fan\n\n1. Call the vendor.\n2. Wait for the vendor.\n")
        lost = syncs.sync().approvals_lost
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert [each.document_id for each in lost] == ["fan.md"]
    assert lost[0].procedures
    ((signature, event),) = deliveries
    assert signature.startswith("v1=")
    assert event["sync"]["approvals_lost"][0]["document_id"] == "fan.md"
    assert syncs.service.syncs("wiki")[0].told


def test_a_link_in_a_repository_is_left_out(syncs, tmp_path):
    (tmp_path / "secret.md").write_text("# Secret\n\nNot yours.\n")
    (syncs.folder / "leak.md").symlink_to(tmp_path / "secret.md")
    syncs.commit(fan=PAGE)
    syncs.declare()
    assert syncs.sync().added == ("fan.md",)


def test_a_name_that_leads_out_is_refused(syncs):
    syncs.commit(fan=PAGE)
    repository = Repo(str(syncs.folder))
    blob, inner, outer = Blob.from_string(PAGE.encode()), Tree(), Tree()
    inner.add(b"passwd.md", 0o100644, blob.id)
    outer.add(b"..", 0o040000, inner.id)
    outer.add(b"fan.md", 0o100644, blob.id)
    for each in (blob, inner, outer):
        repository.object_store.add_object(each)
    repository.get_worktree().commit(b"evil", committer=WHO, author=WHO, tree=outer.id)
    syncs.declare()
    done = syncs.sync()
    assert done.added == ("fan.md",)
    assert syncs.ingestion.job(done.job_id).failures == 1
    assert done.failed == 1
    (failure,) = done.failures
    assert failure.reason == "its name leads out of its folder"


def test_a_subfolder_and_a_branch_are_what_is_read(syncs):
    (syncs.folder / "ops").mkdir()
    (syncs.folder / "ops" / "fan.md").write_text(PAGE)
    syncs.commit(bgp="# BGP\n\nCheck.\n")
    porcelain.branch_create(str(syncs.folder), b"stable")
    syncs.commit(later="# Later\n\nText.\n")
    syncs.declare(branch="stable", subfolder="ops")
    assert syncs.sync().added == ("fan.md",)


def test_a_failed_sync_says_why_and_waits_longer(syncs):
    syncs.commit(fan=PAGE)
    syncs.declare(branch="absent", every_minutes=10)
    failed = syncs.sync()
    assert (failed.status, failed.job_id) == ("failed", "")
    assert failed.reason == "the repository has no branch 'absent'"
    (source,) = syncs.service.sources()
    assert source.failures == 1
    assert source.next_at > datetime.now(UTC) + timedelta(minutes=15)


def test_a_folder_that_is_no_repository_is_named_so(syncs):
    plain = syncs.folder.parent / "plain"
    plain.mkdir()
    syncs.declare(location=f"file://{plain}")
    assert syncs.sync().reason == "there is no Git repository at this address"


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def served(syncs):
    """Address of the repository on a real server of Git over HTTP."""
    syncs.commit(fan=PAGE)
    app = make_wsgi_chain(DictBackend({"/wiki": Repo(str(syncs.folder))}))
    server = make_server("127.0.0.1", 0, app, handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/wiki"
    server.shutdown()
    thread.join()
    server.server_close()


HERE = {"allowed_hosts": ["127.0.0.1"], "allow_private": True}


def test_a_repository_is_fetched_over_http(syncs, served, tmp_path):
    there = Syncs(tmp_path / "there", **HERE)
    there.declare(location=served)
    first = there.sync()
    assert (first.status, first.added) == ("done", ("fan.md",))
    second = syncs.commit(fan=PAGE + "Done.\n")
    again = there.sync()
    assert (again.changed, again.commit_after) == (("fan.md",), second)


def test_a_fetch_that_is_too_large_is_broken_off(served, tmp_path):
    there = Syncs(tmp_path / "there", most_bytes=50, **HERE)
    there.declare(location=served)
    failed = there.sync()
    assert (failed.status, failed.added) == ("failed", ())
    assert "larger than 50 bytes" in failed.reason


def test_what_is_due_is_queued_once(syncs):
    syncs.commit(fan=PAGE)
    syncs.declare()
    syncs.service.queue_due()
    syncs.service.queue_due()
    syncs.service.sync("wiki")
    syncs.work()
    assert len(syncs.service.syncs("wiki")) == 1
    syncs.service.queue_due()
    assert len(syncs.service.syncs("wiki")) == 1
    with syncs.harness.database.session() as session:
        session.execute(update(SyncSourceRow).values(next_at=datetime.now(UTC)))
    syncs.service.queue_due()
    syncs.work()
    assert len(syncs.service.syncs("wiki")) == 2


def test_a_folder_is_synced_in_place(syncs):
    folder = syncs.folder.parent / "plain"
    folder.mkdir()
    (folder / "disk.md").write_text("# Disk\n\nClean up.\n")
    syncs.declare(location=str(folder))
    done = syncs.sync()
    assert (done.added, done.commit_after) == (("disk.md",), "")


@pytest.mark.parametrize(
    ("location", "subfolder"),
    [
        ("https://git.example.net/wiki", ""),
        ("http://169.254.169.254/latest", ""),
        ("ssh://git.example.net/wiki", ""),
        ("https://user:word@git.example.net/wiki", ""),
        ("ssh://127.0.0.1/wiki", ""),
        ("git://127.0.0.1/wiki", ""),
        ("http://127.0.0.1/wiki\r\nX-More: 1", ""),
        ("http://127.0.0.1/wiki ", ""),
        ("http://127.0.0.1/git/../wiki", ""),
        ("http://127.0.0.1/git/%2e%2E/wiki", ""),
        ("http://127.0.0.1/git/..%5Cwiki", ""),
        ("file://another/docs/wiki", ""),
    ],
)
def test_places_that_are_not_allowed_are_refused(tmp_path, location, subfolder):
    syncs = Syncs(tmp_path, **HERE)
    with pytest.raises(PlaceNotAllowedError) as refused:
        syncs.declare(location=location, subfolder=subfolder)
    assert "word" not in str(refused.value)


def test_files_outside_the_allowed_roots_are_refused(syncs, tmp_path):
    for location in ("/etc", f"file://{tmp_path}", "file:///etc"):
        with pytest.raises(PathNotAllowedError):
            syncs.declare(location=location)
    with pytest.raises(PlaceNotAllowedError):
        syncs.declare(subfolder="../..")


def test_an_allowed_name_with_a_private_address_is_not_connected_to(tmp_path):
    syncs = Syncs(tmp_path, allowed_hosts=["localhost"])
    syncs.declare(location="https://localhost:9/wiki")
    failed = syncs.sync()
    assert (failed.status, "not public" in failed.reason) == ("failed", True)


def test_a_redirect_to_another_address_is_not_followed(served, tmp_path):
    class Leading(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.send_response(302)
            self.send_header("location", f"{served}{self.path.removeprefix('/wiki')}")
            self.end_headers()

    server = HTTPServer(("127.0.0.1", 0), Leading)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    there = Syncs(tmp_path / "there", **HERE)
    there.declare(location=f"http://127.0.0.1:{server.server_port}/wiki")
    failed = there.sync()
    server.shutdown()
    server.server_close()
    assert (failed.status, "redirects" in failed.reason) == ("failed", True)


class Asking(BaseHTTPRequestHandler):
    """A server that leads from one repository to another, and asks everybody for a login."""

    logins: ClassVar[list[tuple[str, bool]]] = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.logins.append((self.path, "authorization" in self.headers))
        away = self.path.replace("/git/a.git", "/evil")
        self.send_response(302 if away != self.path else 401)
        self.send_header("location", away)
        self.send_header("www-authenticate", "Basic realm=x")
        self.send_header("content-length", "0")
        self.end_headers()


class Dripping(BaseHTTPRequestHandler):
    """A server whose answer's headers never end."""

    def do_GET(self):
        with suppress(OSError):
            self.connection.sendall(b"HTTP/1.1 200 OK\r\n")
            for _ in range(50):
                self.connection.sendall(b"x-more: 1\r\n")
                time.sleep(0.1)


@pytest.fixture
def serve():
    with ExitStack() as servers:

        def start(handler):
            server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
            servers.callback(server.server_close)
            servers.callback(server.shutdown)
            threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
            return f"127.0.0.1:{server.server_port}"

        yield start


def test_a_login_is_shown_where_it_is_for_and_its_refusal_is_a_failed_sync(serve, tmp_path):
    host = serve(Asking)
    syncs = Syncs(tmp_path, credentials={f"{host}/git/": "reader:word"}, **HERE)
    syncs.declare(location=f"http://{host}/git/a.git")
    failed = syncs.sync()
    shown = {path.partition("/info")[0]: has for path, has in Asking.logins}
    assert shown == {"/git/a.git": True, "/evil": False}
    assert (failed.status, "asks for a login" in failed.reason) == ("failed", True)


@pytest.mark.parametrize(("limit_s", "within_s"), [(0.4, 60), (60, 0.4)])
def test_a_server_that_dribbles_is_not_waited_for(serve, tmp_path, monkeypatch, limit_s, within_s):
    assert RUN_SYNC.partition(".")[0] in ROOM.lanes  # jobs have another worker
    monkeypatch.setattr(repository, "_ANSWER_WITHIN_S", limit_s)
    syncs = Syncs(tmp_path, within_s=within_s, **HERE)
    syncs.declare(location=f"http://{serve(Dripping)}/a.git")
    began = time.monotonic()
    failed = syncs.sync()
    assert (failed.status, failed.reason) == ("failed", "fetching it takes too long")
    assert time.monotonic() - began < 4


def test_a_withdrawn_source_is_unknown_and_its_documents_stay(syncs):
    syncs.commit(fan=PAGE)
    syncs.declare()
    syncs.sync()
    syncs.service.withdraw("wiki")
    with pytest.raises(SourceNotFoundError):
        syncs.service.sync("wiki")
    assert list(syncs.harness.documents.hashes()) == ["fan.md"]


def plain_folder(syncs, pages):
    folder = syncs.folder.parent / "plain"
    folder.mkdir()
    for number in range(pages):
        (folder / f"{number:02}.md").write_text(f"# Disk {number}\n\nClean up disk {number}.\n")
    syncs.declare(location=str(folder))
    assert syncs.sync().status == "done"
    return folder


def test_an_emptied_folder_is_a_failed_sync_that_deletes_nothing(syncs):
    folder = plain_folder(syncs, 2)
    for page in folder.iterdir():
        page.unlink()
    failed = syncs.sync()
    assert (failed.status, failed.deleted) == ("failed", ())
    assert "holds no documents any more" in failed.reason
    assert len(syncs.harness.documents.hashes()) == 2
    folder.rmdir()
    assert "existing path" in syncs.sync().reason
    assert len(syncs.harness.documents.hashes()) == 2


def test_an_emptied_repository_deletes_nothing(syncs):
    syncs.commit(fan=PAGE)
    syncs.declare()
    syncs.sync()
    syncs.commit(fan=None)
    assert "holds no documents any more" in syncs.sync().reason
    assert list(syncs.harness.documents.hashes()) == ["fan.md"]


def test_a_sync_deletes_half_but_not_most_of_many_documents(syncs):
    folder = plain_folder(syncs, 24)
    (folder / "new.md").write_text("# New\n\nWatch it.\n")
    pages = sorted(folder.glob("[0-9]*.md"))
    for page in pages[:13]:
        page.unlink()
    failed = syncs.sync()
    assert (failed.status, failed.added, failed.deleted) == ("failed", (), ())
    assert "13 of its 24 documents" in failed.reason
    pages[0].write_text("# Disk\n\nClean up disk 0.\n")
    done = syncs.sync()
    assert (done.status, len(done.deleted)) == ("done", 12)
    for page in pages[13:]:
        page.unlink()
    assert len(syncs.sync().deleted) == 0
    pages[13].write_text("# Disk\n\nClean up disk 13.\n")
    pages[14].write_text("# Disk\n\nClean up disk 14.\n")
    assert len(syncs.sync().deleted) == 9


def test_the_command_names_the_first_failed_documents(capsys):
    failures = [FailedDocument(document_id=f"{n}.md", reason="no text") for n in range(7)]
    now = datetime.now(UTC)
    synced = Synced(id="1", source="wiki", status="done", began_at=now, failed=7, failures=failures)
    _show_sync(synced)
    output = capsys.readouterr().out
    assert "7 failed" in output
    assert "0.md: no text" in output
    assert "and 2 more" in output
