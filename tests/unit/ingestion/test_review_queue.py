"""Which pages wait most urgently for a person, and whose they are."""

from datetime import UTC, datetime

import pytest

from services.contracts.ingestion import Ownership
from services.contracts.readings import (
    ApprovalRequest,
    PageState,
    WaitingQuery,
)
from services.ingestion.catalogue.owners import owner_among
from services.ingestion.readings.review_queue import QueuedPage, by_urgency
from services.kit.errors import InvalidInputError
from services.knowledge.screening.document import hash_of
from services.runbook.store.sql_readings import SqlReadingStore
from tests.readings import reading_of_list

FAN = "# Fan stands still\n\n1. Look at the tray.\n2. Seat the fan.\n"
POWER = "# Power supply hums\n\n1. Look at the cable.\n2. Swap the supply.\n"


def page(name, *, alerts=0, doubts=0, procedures=1, approved=0, was_approved=False, reader="model"):
    numbers = (procedures, approved, 0, doubts, was_approved, datetime(2026, 1, 1, tzinfo=UTC))
    return QueuedPage(name, name, {name: "/docs"}, reader, *numbers, alerts=alerts)


class TestUrgency:
    def test_alerts_count_times_what_waits(self):
        pages = [
            page("quiet", alerts=2, doubts=1),
            page("doubtful", alerts=2, doubts=5),
            page("busy", alerts=10),
        ]
        assert [each.urgency for each in pages] == [4, 12, 10]
        assert [each.text_hash for each in by_urgency(pages)] == ["doubtful", "busy", "quiet"]

    def test_an_approved_page_waits_for_nothing_however_many_alerts_rest_on_it(self):
        pages = [page("approved", alerts=99, approved=1), page("read", alerts=1)]
        assert [each.text_hash for each in by_urgency(pages)] == ["read", "approved"]

    def test_without_alerts_a_changed_page_comes_first_then_the_most_doubts(self):
        pages = [page("b"), page("a"), page("doubts", doubts=3), page("was", was_approved=True)]
        assert [each.text_hash for each in by_urgency(pages)] == ["was", "doubts", "a", "b"]

    def test_a_page_without_a_procedure_is_not_approved(self):
        assert page("empty", procedures=0).state is PageState.READ

    def test_a_page_that_nobody_has_read_waits_once(self):
        unread = page("unread", alerts=3, procedures=0, reader="")
        assert (unread.state, unread.waits, unread.urgency) == (PageState.UNREAD, 1, 3)


class TestOwners:
    OWNERS = (
        Ownership(team="all"),
        Ownership(root="/docs", team="docs"),
        Ownership(prefix="net", team="network"),
        Ownership(prefix="net/bgp/", team="routing"),
        Ownership(prefix="net/bgp/a.md", team="one page"),
    )

    @pytest.mark.parametrize(
        ("root", "document", "team"),
        [
            ("/elsewhere", "x.md", "all"),
            ("/docs", "x.md", "docs"),
            ("/docs", "net/x.md", "network"),
            ("/docs", "network/x.md", "docs"),
            ("/docs", "net/bgp/b.md", "routing"),
            ("/docs", "net/bgp/a.md", "one page"),
        ],
    )
    def test_the_longest_prefix_wins(self, root, document, team):
        assert owner_among(self.OWNERS, root, document) == team

    def test_nobody_owns_what_no_entry_is_for(self):
        assert owner_among([Ownership(root="/other", team="x")], "/docs", "a.md") == ""


@pytest.fixture
def service(harness):
    for name, text in (("net/fan.md", FAN), ("net/copy.md", FAN), ("power.md", POWER)):
        harness.write(name, text)
    harness.ingest()
    for text in (FAN, POWER):
        SqlReadingStore(harness.database).put(hash_of(text), reading_of_list(text))
    return harness.service


class TestPages:
    def test_documents_with_one_text_are_one_page_and_their_alerts_add_up(self, service):
        alerts = {"net/fan.md": 2, "net/copy.md": 3, "gone.md": 50, "power.md": 1}
        queue = service.readings("x").waiting(WaitingQuery(alerts=alerts))
        assert [each.documents for each in queue.readings] == [
            ("net/copy.md", "net/fan.md"),
            ("power.md",),
        ]
        assert [each.alerts for each in queue.readings] == [5, 1]
        assert (queue.total, queue.counts[PageState.READ]) == (2, 2)

    def test_a_page_that_nobody_has_read_is_listed_without_a_reader(self, harness, service):
        harness.write("disk.md", "# Disk\n\n1. Look.\n")
        harness.ingest()
        queue = service.readings("x").waiting(WaitingQuery(state=PageState.UNREAD))
        assert [(each.documents, each.reader, each.procedures) for each in queue.readings] == [
            (("disk.md",), None, 0)
        ]
        assert queue.counts[PageState.UNREAD] == 1

    def test_filters_restrict_the_list_and_not_the_counts(self, service):
        service.set_owner(Ownership(prefix="net", team="network"))
        readings = service.readings("x")
        readings.approve(hash_of(POWER), ApprovalRequest(procedure=0))
        for query, names in (
            (WaitingQuery(state=PageState.APPROVED), ["power.md"]),
            (WaitingQuery(owner="network"), ["net/copy.md"]),
            (WaitingQuery(text="HUMS power"), ["power.md"]),
            (WaitingQuery(start=1), ["power.md"]),
            (WaitingQuery(state=PageState.CHANGED), []),
        ):
            queue = readings.waiting(query)
            assert [each.documents[0] for each in queue.readings] == names
            assert queue.counts == {
                "changed": 0,
                "unread": 0,
                "read": 1,
                "checklist": 0,
                "approved": 1,
            }

    def test_a_page_that_changed_after_its_approval_says_so(self, harness, service):
        readings = service.readings("x")
        readings.approve(hash_of(POWER), ApprovalRequest(procedure=0))
        harness.write("power.md", POWER.replace("Swap the supply", "Call the vendor"))
        harness.ingest()
        queue = readings.waiting(WaitingQuery(state=PageState.CHANGED))
        assert [each.documents for each in queue.readings] == [("power.md",)]

    def test_a_team_takes_the_place_of_the_one_before_and_an_empty_one_goes(self, service):
        service.set_owner(Ownership(prefix="net", team="first"))
        assert service.set_owner(Ownership(prefix="net", team=" second "))[0].team == "second"
        assert service.set_owner(Ownership(prefix="net", team="")) == []
        with pytest.raises(InvalidInputError):
            service.set_owner(Ownership(team="two\nlines"))

    def test_a_team_is_of_a_root_that_exists(self, service):
        for root in ("nope", "../"):
            with pytest.raises(InvalidInputError, match="no document came from"):
                service.set_owner(Ownership(root=root, team="network"))
        (ingested,) = service.roots()
        (named,) = service.set_owner(Ownership(root=ingested.path, team="network"))
        assert (named.root, named.team) == (ingested.path, "network")
