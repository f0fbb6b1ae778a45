"""Who looks after pages is told once a week, by two processes as by one."""

import json
from datetime import UTC, datetime

import pytest

from services.contracts.coverage import FindingKind, PageFinding, PagesToMend, PageToMend
from services.gateway.writeback.service import WriteBack
from services.gateway.writeback.settings import WriteBackSettings
from services.gateway.writeback.targets import DIGESTS
from services.gateway.writeback.weekly import DIGEST_TASK, WeeklyDigest, digest_of
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database

MONDAY_8 = datetime(2026, 11, 23, 8, tzinfo=UTC).timestamp()
HOUR = 3600.0
SETTINGS = WriteBackSettings(
    _env_file=None,
    allowed_hosts=["chat.example.net"],
    chat_url="https://chat.example.net/hook",
    callback_url="https://chat.example.net/json",
    callback_secret="only-for-this-test",
    digest_day="monday",
    public_url="https://flow.example.net",
)


def finding(line, said="old-command"):
    return PageFinding(
        key=f"k{line}",
        kind=FindingKind.COMMAND_FAILS,
        document_id="fan.md",
        start_line=line,
        end_line=line,
        said=said,
        seen="not understood in a run",
        times=1,
        since=datetime.now(UTC),
        last_at=datetime.now(UTC),
    )


def page(*findings, owner="net", id_="fan.md"):
    return PageToMend(document_id=id_, title="Fan", owner=owner, findings=findings)


class FakeCovering:
    """Says which pages are to be mended."""

    def __init__(self):
        self.pages = (page(finding(3)),)

    def pages_to_mend(self, *, weeks):
        return PagesToMend(weeks=weeks, pages=self.pages)


@pytest.fixture
def database():
    database = Database.memory()
    database.migrate("kit", "gateway")
    yield database
    database.close()


@pytest.fixture
def covering():
    return FakeCovering()


@pytest.fixture
def digest(database, covering):
    def digest(settings=SETTINGS):
        outbox = Outbox(database)
        write_back = WriteBack(settings, database, outbox)
        return WeeklyDigest(
            database, outbox, write_back=write_back, covering=covering, settings=settings
        )

    return digest


def put(database):
    return sorted(key for key, task, *_ in Outbox(database).due(limit=100) if task == DIGEST_TASK)


def test_each_target_is_put_once_a_week_by_two_processes(database, digest):
    one, other = digest(), digest()
    for each in (one, other, one):
        each.look(MONDAY_8)
    week = ["gateway.digest:callback:2026-W48", "gateway.digest:chat:2026-W48"]
    assert put(database) == week
    one.look(MONDAY_8 + 7 * 24 * HOUR)
    assert len(put(database)) == 4


@pytest.mark.parametrize("at", [MONDAY_8 - 2 * HOUR, MONDAY_8 + 24 * HOUR])
def test_nothing_is_put_on_another_day_or_too_early(database, digest, at):
    digest().look(at)
    assert put(database) == []


def test_without_a_day_nothing_is_ever_put(database, digest):
    digest(SETTINGS.model_copy(update={"digest_day": ""})).look(MONDAY_8)
    assert put(database) == []


def test_nothing_to_mend_is_not_told(digest, covering, monkeypatch):
    sent = []
    monkeypatch.setattr(WriteBack, "send_digest", lambda _, *told: sent.append(told))
    covering.pages = ()
    digest().run("2026-W48", "chat")
    assert sent == []
    covering.pages = (page(finding(3)),)
    digest().run("2026-W48", "chat")
    assert sent[0][0] == "chat"


def test_it_tells_team_by_team_and_where_the_rest_is():
    pages = [page(*map(finding, range(5))), page(finding(1), owner="", id_="disk.md")]
    told = digest_of("2026-W48", pages, "https://flow.example.net/knowledge/coverage/pages")
    assert told.headline.startswith("2 pages are to be mended")
    assert told.lines[0] == "net:"
    assert "fan.md: 2 more" in told.lines
    assert "no team is named:" in told.lines
    assert told.lines[-1].endswith("/knowledge/coverage/pages")


@pytest.mark.parametrize("form", ["slack", "teams"])
def test_what_a_page_says_gives_a_chat_no_orders(form):
    settings = SETTINGS.model_copy(update={"chat_form": form})
    told = digest_of("2026-W48", [page(finding(3, "<!channel> & co"))], "")
    body = json.loads(DIGESTS["chat"](settings, told).body)
    assert "<!channel>" not in json.dumps(body.get("text", ""))
    assert "!channel" in json.dumps(body)


def test_a_program_is_told_signed():
    request = DIGESTS["callback"](SETTINGS, digest_of("2026-W48", [page(finding(3))], ""))
    body = json.loads(request.body)
    assert (body["event"], body["pages"][0]["document_id"]) == ("pages.to_mend", "fan.md")
    assert request.headers["x-flowxpert-signature"].startswith("v1=")
    assert request.headers["idempotency-key"] == "digest:2026-W48"
