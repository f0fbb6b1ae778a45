"""Who looks after pages is told once a week, by two processes as by one."""

import json
from datetime import UTC, date, datetime

import pytest

from services.contracts.coverage import FindingKind, PageFinding, PagesToMend, PageToMend
from services.contracts.readings import PageReview
from services.integrations.writeback.service import WriteBack
from services.integrations.writeback.settings import WriteBackSettings
from services.integrations.writeback.targets import DIGESTS
from services.integrations.writeback.weekly import DIGEST_TASK, WeeklyDigest, build_digest
from services.kit.egress.guard import NotDeliveredError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database

MONDAY_8 = datetime(2026, 11, 23, 8, tzinfo=UTC).timestamp()
HOUR = 3600.0
PUBLIC = "https://flow.example.net"
SETTINGS = WriteBackSettings(
    _env_file=None,
    allowed_hosts=["chat.example.net"],
    chat_url="https://chat.example.net/hook",
    callback_url="https://chat.example.net/json",
    callback_secret="only-for-this-test",
    digest_day="monday",
    public_url=PUBLIC,
)


def finding(line, command="old-command"):
    return PageFinding(
        key=f"k{line}",
        kind=FindingKind.COMMAND_FAILS,
        document_id="fan.md",
        start_line=line,
        end_line=line,
        said=command,
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
        self.without = ()

    def pages_to_mend(self, *, weeks):
        return PagesToMend(weeks=weeks, pages=self.pages, without=self.without)


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
def reviews():
    return []


@pytest.fixture
def digest(database, covering, reviews):
    def digest(settings=SETTINGS):
        outbox = Outbox(database)
        write_back = WriteBack(settings, database, outbox)
        return WeeklyDigest(
            database,
            outbox,
            write_back=write_back,
            covering=covering,
            reviews=lambda: reviews,
            settings=settings,
        )

    return digest


def put(database):
    return sorted(key for key, task, *_ in Outbox(database).due(limit=100) if task == DIGEST_TASK)


def test_each_target_is_put_once_a_week_by_two_processes(database, digest):
    one, other = digest(), digest()
    for each in (one, other, one):
        each.put_due(MONDAY_8)
    week = [f"{DIGEST_TASK}:callback:2026-W48", f"{DIGEST_TASK}:chat:2026-W48"]
    assert put(database) == week
    one.put_due(MONDAY_8 + 7 * 24 * HOUR)
    assert len(put(database)) == 4


@pytest.mark.parametrize("at", [MONDAY_8 - 2 * HOUR, MONDAY_8 + 24 * HOUR])
def test_nothing_is_put_on_another_day_or_too_early(database, digest, at):
    digest().put_due(at)
    assert put(database) == []


def test_without_a_day_nothing_is_ever_put(database, digest):
    digest(SETTINGS.model_copy(update={"digest_day": ""})).put_due(MONDAY_8)
    assert put(database) == []


@pytest.fixture
def sent_lines(digest, covering, monkeypatch):
    """What a week's digest sends of findings on these lines: their lines, or None for nothing."""
    sent = []
    monkeypatch.setattr(
        WriteBack,
        "send_digest",
        lambda _, _target, digest: sent.append([f["start_line"] for f in findings_of(digest)]),
    )

    def sent_lines(week, *lines, target="chat", without=()):
        covering.pages = (page(*map(finding, lines)),) if lines else ()
        covering.without = without
        weekly = digest()
        weekly.put_due(MONDAY_8 + (week - 48) * 7 * 24 * HOUR)
        sent.clear()
        weekly.run(f"2026-W{week}", target)
        return sent[0] if sent else None

    return sent_lines


def findings_of(digest):
    return [each for page in digest.pages for each in page["findings"]]


def test_nothing_to_mend_is_not_sent(sent_lines):
    assert sent_lines(48) is None
    assert sent_lines(49, 3) == [3]


def test_what_was_told_before_is_told_again_only_beside_something_new(sent_lines):
    assert sent_lines(48, 3) == [3]
    assert sent_lines(49, 3) is None
    assert sent_lines(50, 3, 7) == [3, 7]
    assert sent_lines(51, 7) is None
    assert sent_lines(52, 7, 9) == [7, 9]
    assert sent_lines(53, 3, 7, 9) == [3, 7, 9]


def test_a_digest_that_is_run_again_is_not_sent_again(sent_lines):
    assert sent_lines(48, 3) == [3]
    assert sent_lines(48, 3) is None


def test_each_target_has_news_of_its_own(sent_lines):
    assert sent_lines(48, 3) == [3]
    assert sent_lines(49, 3, target="callback") == [3]


def test_what_a_service_that_was_away_knows_is_not_new_when_it_is_back(sent_lines):
    assert sent_lines(48, 3) == [3]
    assert sent_lines(49, 7, without=("executor",)) == [7]
    assert sent_lines(50, 3, 7) is None


def test_what_a_target_did_not_take_is_told_the_next_week(sent_lines, monkeypatch):
    def refuse(*_):
        raise NotDeliveredError("away")

    with monkeypatch.context() as broken:
        broken.setattr(WriteBack, "send_digest", refuse)
        with pytest.raises(NotDeliveredError):
            sent_lines(48, 3)
    assert sent_lines(49, 3) == [3]


def test_it_tells_team_by_team_and_where_the_rest_is():
    pages = [page(*map(finding, range(5))), page(finding(1), owner="", id_="disk.md")]
    message = build_digest("2026-W48", pages, [], "https://flow.example.net")
    assert message.headline.startswith("2 pages are to be mended")
    assert message.lines[0] == "net:"
    assert "fan.md: 2 more" in message.lines
    assert "no team is named:" in message.lines
    assert message.lines[-1].endswith("/knowledge/coverage/pages")


def test_a_review_is_told_once_with_its_day_and_where_it_is_done(sent_lines, reviews):
    reviews.append(review(date(2026, 12, 4)))
    assert sent_lines(48) == []
    assert sent_lines(49) is None
    reviews[0] = review(date(2026, 12, 11))
    assert sent_lines(50) == []
    message = build_digest("2026-W50", [], reviews, PUBLIC)
    assert message.headline == "1 review is due"
    assert message.lines[:2] == (
        "<!channel>:",
        f"fan.md to be reviewed by 2026-12-11, ada asks: {PUBLIC}/knowledge/readings/abc",
    )
    text = json.loads(DIGESTS["chat"](SETTINGS, message).body)["text"]
    assert "<!channel>" not in text
    assert json.loads(DIGESTS["callback"](SETTINGS, message).body)["reviews"][0]["team"] == (
        "<!channel>"
    )


def review(due):
    return PageReview(
        document_id="fan.md",
        title="Fan",
        text_hash="abc",
        team="<!channel>",
        due=due,
        by="ada",
        at=datetime.now(UTC),
    )


@pytest.mark.parametrize("form", ["slack", "teams"])
def test_what_a_page_says_gives_a_chat_no_orders(form):
    settings = SETTINGS.model_copy(update={"chat_form": form})
    message = build_digest("2026-W48", [page(finding(3, "<!channel> & co"))], [], "")
    body = json.loads(DIGESTS["chat"](settings, message).body)
    assert "<!channel>" not in json.dumps(body.get("text", ""))
    assert "!channel" in json.dumps(body)


def test_a_program_is_told_signed():
    request = DIGESTS["callback"](SETTINGS, build_digest("2026-W48", [page(finding(3))], [], ""))
    body = json.loads(request.body)
    assert (body["event"], body["pages"][0]["document_id"]) == ("pages.to_mend", "fan.md")
    assert request.headers["x-flowxpert-signature"].startswith("v1=")
    assert request.headers["idempotency-key"] == "digest:2026-W48"
