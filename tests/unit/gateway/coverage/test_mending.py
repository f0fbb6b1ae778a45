"""What was seen of pages comes together, and goes away with the lines that it is about."""

from datetime import UTC, datetime

import pytest

from services.contracts.coverage import FindingKind
from services.contracts.execution import FailedCommand
from services.contracts.ingestion import Decay, DecayKind, IngestedDocument
from services.gateway.coverage.mending import PagesMending
from services.kit.errors import NotFoundError, UnavailableError
from services.knowledge.model import Document
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
        told = {"media_type": "text/markdown", "source": "/x", "chunks": 1, "updated_at": 0}
        page = IngestedDocument(id=RUNBOOK, title="Fan", nodes=1, owner="net", **told)
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
    return PagesMending(gateway.database, ingestion, lambda: execution)


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


def found(mending):
    return [each for page in mending.pages_to_mend(weeks=4).pages for each in page.findings]


def test_nothing_that_was_seen_is_nothing_to_mend(mending):
    assert mending.pages_to_mend(weeks=4).pages == ()


def test_a_command_that_failed_stands_at_its_line_with_its_runs(mending, failed):
    (page,) = mending.pages_to_mend(weeks=4).pages
    assert (page.document_id, page.owner) == (RUNBOOK, "net")
    (told,) = page.findings
    assert (told.kind, told.start_line, told.runs) == (FindingKind.COMMAND_FAILS, 12, ("r1",))
    assert told.seen == "not understood in 2 runs, last by leaf-1: “% Invalid input”"


def test_a_finding_moves_with_its_line_and_goes_away_with_it(mending, failed, ingestion):
    ingestion.lines.insert(0, "a new line")
    assert found(mending)[0].start_line == 13
    ingestion.lines[12] = "Show the fans with `show fan`"
    assert found(mending) == []


def test_a_page_that_is_gone_has_nothing_to_mend(mending, failed, ingestion):
    ingestion.is_gone = True
    assert mending.pages_to_mend(weeks=4).pages == ()


def test_without_the_executor_the_rest_is_told_and_what_is_missing(mending, execution, ingestion):
    execution.is_down = True
    ingestion.decayed = [decay(DecayKind.LINK, "gone.md", was=("net/gone.md",))]
    told = mending.pages_to_mend(weeks=4)
    assert told.without == ("executor",)
    assert told.pages[0].findings[0].seen == "led to net/gone.md, which is gone"


def decay(kind, said, **more):
    return Decay(kind=kind, document_id=RUNBOOK, line=3, said=said, since=NOW, **more)


def test_a_name_that_a_ticket_has_of_late_is_not_gone(mending, ingestion, gateway):
    ingestion.decayed = [decay(DecayKind.NAME, "fan-ctl", was=("a.md", "b.md"), others=2)]
    assert [each.kind for each in found(mending)] == [FindingKind.NAME_GONE]
    gateway.post({"id": "T-1", "title": "FAN-CTL does not answer"})
    assert found(mending) == []


def planned(gateway, name):
    ticket_id = gateway.post({"id": name, "title": "Fan 2 of spine-01 failed"})["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


def test_a_step_that_somebody_rejected_is_told_until_somebody_does_it(mending, gateway, ingestion):
    ingestion.lines[11:14] = ["Show the fans", "show environment fan", "line 14"]
    ticket = planned(gateway, "T-1")
    step = f"/v1/workflows/{ticket['workflow_id']}/steps/look"
    gateway.client.put(f"{step}/judgement", json={"verdict": "rejected", "word": "no such command"})
    (told,) = found(mending)
    assert (told.kind, told.tickets) == (FindingKind.STEP_REFUSED, (ticket["id"],))
    assert told.seen == "rejected on one ticket: “no such command”"
    later = planned(gateway, "T-2")
    step = f"/v1/workflows/{later['workflow_id']}/steps/look"
    gateway.client.put(f"{step}/mark", json={"state": "done"})
    assert found(mending) == []
