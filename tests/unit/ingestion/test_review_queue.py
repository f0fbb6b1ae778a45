"""Which pages wait most urgently for a person, and whose they are."""

from datetime import UTC, date, datetime, timedelta
from threading import Barrier, Thread

import pytest

from services.contracts.ingestion import Ownership
from services.contracts.readings import (
    ApprovalRequest,
    PageState,
    PageUse,
    ReviewRequest,
    WaitingQuery,
)
from services.ingestion.catalogue.owners import owner_among
from services.ingestion.readings.review_queue import QueuedPage, by_urgency, worst_effect
from services.ingestion.readings.reviews import NothingToReviewError
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.errors import InvalidInputError, NotFoundError
from services.knowledge.page.parsing import parse_page
from services.knowledge.screening.document import hash_of
from services.runbook.store.sql_readings import SqlReadingStore
from tests.readings import reading_of_list

FAN = "# Fan stands still\n\n1. Look at the tray.\n2. Seat the fan.\n"
POWER = "# Power supply hums\n\n1. Look at the cable.\n2. Swap the supply.\n"


def page(
    name,
    *,
    answered=0,
    near=0,
    harm="none",
    doubts=0,
    procedures=1,
    approved=0,
    was_approved=False,
    reader="model",
):
    numbers = (procedures, approved, 0, doubts, was_approved, datetime(2026, 1, 1, tzinfo=UTC))
    use = PageUse(answered=answered, near=near)
    return QueuedPage(name, name, {name: "/docs"}, reader, *numbers, harm=harm, use=use)


class TestUrgency:
    def test_tickets_that_a_page_answered_come_before_those_it_came_near_and_harm_weighs_more(self):
        pages = [
            page("near", near=9, harm="destroys"),
            page("looks", answered=2, harm="looks"),
            page("destroys", answered=2, harm="destroys"),
            page("changes", answered=2, harm="changes"),
            page("busy", answered=4),
        ]
        ordered = [each.text_hash for each in by_urgency(pages)]
        assert ordered == ["busy", "destroys", "changes", "looks", "near"]

    def test_an_approved_page_waits_for_nothing_however_many_tickets_rest_on_it(self):
        pages = [page("approved", answered=99, approved=1), page("read", near=1)]
        assert [each.text_hash for each in by_urgency(pages)] == ["read", "approved"]

    def test_without_tickets_a_changed_page_comes_first_then_harm_then_the_most_doubts(self):
        others = [page("b"), page("a"), page("doubts", doubts=3), page("harm", harm="changes")]
        ordered = by_urgency([*others, page("was", was_approved=True)])
        assert [each.text_hash for each in ordered] == ["was", "harm", "doubts", "a", "b"]

    def test_a_page_without_a_procedure_is_not_approved(self):
        assert page("empty", procedures=0).state is PageState.READ

    def test_a_page_that_nobody_has_read_waits_once(self):
        unread = page("unread", near=3, procedures=0, reader="")
        assert (unread.state, unread.waits, unread.urgency) == (PageState.UNREAD, 1, 12)


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
    def test_documents_with_one_text_are_one_page_and_their_tickets_add_up(self, service):
        answered = {"net/fan.md": 2, "net/copy.md": 3, "gone.md": 50, "power.md": 1}
        uses = {id_: PageUse(answered=count, near=1) for id_, count in answered.items()}
        queue = service.readings("x").waiting(WaitingQuery(uses=uses))
        assert [each.documents for each in queue.readings] == [
            ("net/copy.md", "net/fan.md"),
            ("power.md",),
        ]
        assert [(each.use.answered, each.use.near) for each in queue.readings] == [(5, 2), (1, 1)]
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
            (WaitingQuery(documents=("power.md", "gone.md")), ["power.md"]),
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


def in_days(days):
    return datetime.now(UTC).date() + timedelta(days)


class TestReviews:
    @pytest.fixture
    def readings(self, service):
        service.set_owner(Ownership(prefix="net", team="network"))
        service.set_owner(Ownership(prefix="power.md", team="<b>power</b>"))
        return service.readings("ada")

    def test_it_is_on_top_of_its_owners_list_and_gone_when_approved(self, readings, harness):
        uses = {"net/fan.md": PageUse(answered=9)}
        harness.write("net/zzz.md", "# Optics\n\n1. Clean them.\n")
        harness.ingest()
        readings.request_review(ReviewRequest(document_id="net/zzz.md", due=in_days(9)))
        (review,) = readings.request_review(ReviewRequest(document_id="net/zzz.md", due=in_days(3)))
        assert (review.team, review.by, review.due) == ("network", "ada", in_days(3))
        own = readings.waiting(WaitingQuery(owner="network", uses=uses)).readings
        assert [each.documents[0] for each in own] == ["net/zzz.md", "net/copy.md"]
        assert own[0].review == review
        everything = readings.waiting(WaitingQuery(uses=uses)).readings
        assert everything[0].documents[0] == "net/copy.md"
        readings.begin(review.text_hash)
        readings.approve(review.text_hash, ApprovalRequest(procedure=0))
        assert readings.reviews() == []
        lines = AuditLog(harness.database).lines(AuditFilter(action="review"), limit=9)
        actions = [line["action"] for line in lines]
        assert actions == ["review.done", "review.requested", "review.requested"]
        # Its boxes alone are approved, so that its decisions may be asked for.
        assert readings.request_review(ReviewRequest(document_id="net/zzz.md", due=in_days(3)))
        readings.approve(hash_of(POWER), ApprovalRequest(procedure=0))
        with pytest.raises(NothingToReviewError):
            readings.request_review(ReviewRequest(document_id="power.md", due=in_days(3)))

    def test_a_page_that_is_gone_a_day_that_is_over_and_no_owner_are_refused(
        self, readings, service, harness
    ):
        service.set_owner(Ownership(prefix="power.md", team=""))
        for document, due, refusal in (
            ("gone.md", in_days(1), NotFoundError),
            ("net/fan.md", in_days(-1), InvalidInputError),
            ("net/fan.md", date.min, InvalidInputError),
            ("power.md", in_days(1), InvalidInputError),
        ):
            with pytest.raises(refusal):
                readings.request_review(ReviewRequest(document_id=document, due=due))
        assert readings.reviews() == []
        readings.request_review(ReviewRequest(document_id="net/fan.md", due=in_days(0)))
        (harness.root / "net/fan.md").unlink()
        harness.ingest(prune=True)
        assert readings.reviews() == []

    def test_of_two_requests_at_once_one_counts_and_either_takes_it_back(self, readings, service):
        start = Barrier(2)

        def ask(who, days):
            start.wait()
            request = ReviewRequest(document_id="power.md", due=in_days(days))
            service.readings(who).request_review(request)

        both = [Thread(target=ask, args=each) for each in (("ada", 1), ("bob", 2))]
        for each in both:
            each.start()
        for each in both:
            each.join()
        (review,) = readings.reviews(owner="<b>power</b>")
        assert (review.by, review.due) in {("ada", in_days(1)), ("bob", in_days(2))}
        assert readings.reviews(owner="network") == []
        assert readings.request_review(ReviewRequest(document_id="power.md", due=None)) == []


class TestChangedBlocks:
    def test_only_blocks_that_the_approved_text_did_not_have_are_changed(self, harness, service):
        readings = service.readings("x")
        assert readings.get(hash_of(POWER)).changed_blocks is None
        readings.approve(hash_of(POWER), ApprovalRequest(procedure=0))
        once = POWER.replace("Swap the supply", "Call the vendor")
        twice = once + "\nThe vendor answers by day.\n"
        for text, words in (
            (once, ["Call the vendor."]),
            (twice, ["Call the vendor.", "The vendor answers by day."]),
        ):
            harness.write("power.md", text)
            harness.ingest()
            changed = readings.get(hash_of(text)).changed_blocks
            blocks = {p.block.key: p.block.text for p in parse_page(text).places()}
            assert [blocks[key] for key in changed if blocks[key]] == words


RESOURCE = "```yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: psi\n```\n"


@pytest.mark.parametrize(
    ("words", "effect"),
    [
        ("Applying this resource reboots your nodes.", "changes"),
        ("The resource looks like this:", "looks"),
    ],
)
def test_a_resource_that_the_page_applies_is_a_change(words, effect):
    text = f"# PSI\n\n1. Look: `kubectl get nodes`\n2. {words}\n\n{RESOURCE}"
    assert worst_effect(text) == effect
