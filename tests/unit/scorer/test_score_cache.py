"""Scores that hang on the page alone are looked up, and are what they would be anew."""

from datetime import UTC, datetime

import pytest
import structlog

from services.contracts.planner import SERVED_BY, Candidate
from services.contracts.retrieval import PageReading
from services.contracts.scorer import ScoredCandidate, ScoreRequest
from services.contracts.ticket import TicketDraft
from services.kit.errors import UnavailableError
from services.kit.migrations import ROOMS
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Document, KnowledgeContext
from services.knowledge.screening.document import ScreenedDocument, hash_of
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.runbook.model import Procedure, Reader, Reading
from services.runbook.ports import Approval, Happening, ServedReading
from services.runbook.serving import draw
from services.runbook.store.sql_readings import SqlReadingStore
from services.runbook.store.sql_scoring import SqlPreparedStore
from services.scorer.score_cache import PageScoreCache, ScorePreparation
from services.scorer.scoring_fit import ScoringFit
from services.scorer.service import ScorerService
from services.workflow.model import Provenance, Workflow
from tests.unit.runbook.programs import do, procedure
from tests.unit.scorer.cases import TICKET
from tests.unit.scorer.fan_page import PAGE, PROCEDURE, TEXT

OTHER_PROCEDURE = procedure(do("Read the fan speeds of the tray", 3))


class World:
    """A database, and scorers over it as processes have them."""

    def __init__(self) -> None:
        self.database = Database.memory()
        self.database.migrate(*ROOMS)
        self.store = SqlPreparedStore(self.database)
        self.readings = SqlReadingStore(self.database)
        self.documents = SqlDocumentStore(self.database)

    def scorer(self, fitted: ScoringFit | None = None) -> ScorerService:
        """Of a process that has just begun."""
        return ScorerService(HashingEmbedder(), fitted=fitted, prepared=self.store)

    def prepare(self) -> None:
        """All that waits, in a process of its own."""
        prepared = self.scorer().prepared
        while ScorePreparation(self.documents, self.readings, self.store, prepared).run():
            pass

    def put(self, text: str = TEXT, *procedures: Procedure) -> str:
        key = hash_of(text)
        self.documents.put(
            ScreenedDocument(Document(id=PAGE, title="Fan", text=text, content_hash=key))
        )
        reading = Reading(reader=Reader.MODEL, procedures=procedures or (PROCEDURE,))
        self.readings.put(key, reading)
        return key

    def page(self) -> PageReading:
        """As retrieval hands it over."""
        document = self.documents.get(PAGE).for_model()
        served = self.readings.served(hash_of(document.text))
        assert served
        return PageReading(document_id=PAGE, title="Fan", served=served, text=document.text)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Workflow]:
    """The workflows that were judged, and not looked up."""
    workflows: list[Workflow] = []
    whole = ScorerService._score_alone

    def noted(self, workflow, pages):
        workflows.append(workflow)
        return whole(self, workflow, pages)

    monkeypatch.setattr(ScorerService, "_score_alone", noted)
    return workflows


def score_request(page: PageReading, ticket: TicketDraft = TICKET) -> ScoreRequest:
    """For what the planner serves of the page."""
    reader = page.served.reading.reader.value
    workflows = [
        draw(page.served, place, PAGE).model_copy(
            update={"provenance": Provenance(planner=SERVED_BY, reader=reader)}
        )
        for place in range(len(page.served.reading.procedures))
    ]
    candidates = tuple(Candidate(id=str(n), workflow=each) for n, each in enumerate(workflows))
    return ScoreRequest(
        ticket=ticket, context=KnowledgeContext(), pages=(page,), candidates=candidates
    )


def anew(request: ScoreRequest) -> list[ScoredCandidate]:
    """By a process that knows nothing."""
    return list(ScorerService(HashingEmbedder()).score(request).ranked)


def test_what_is_prepared_is_what_is_judged_anew(world, judged):
    world.put(TEXT, PROCEDURE, OTHER_PROCEDURE)
    world.prepare()
    assert len(judged) == 2
    request = score_request(world.page())
    ranked = list(world.scorer().score(request).ranked)
    assert len(judged) == 2
    assert ranked == anew(request)


def test_looked_up_and_judged_with_the_whole_request_are_one(world):
    world.put(TEXT, PROCEDURE, OTHER_PROCEDURE)
    request = score_request(world.page())
    scorer = world.scorer()
    assert scorer._look_up(request) == scorer._score_by_pages(request)


def test_what_nobody_prepared_is_judged_once_and_kept_for_all_processes(world, judged):
    world.put()
    request = score_request(world.page())
    first = world.scorer().score(request)
    assert world.scorer().score(request) == first
    assert len(judged) == 1


def test_another_ticket_of_the_same_page_is_a_look_up(world, judged):
    world.put()
    scorer = world.scorer()
    scorer.score(score_request(world.page()))
    other = TICKET.model_copy(update={"title": "No airflow", "labels": {"tray": "7"}})
    scorer.score(score_request(world.page(), other))
    assert len(judged) == 1


CHANGES = {
    "another reader": lambda world, text: world.readings.put(
        text, Reading(reader=Reader.MODEL, version="m", procedures=(OTHER_PROCEDURE,))
    ),
    "an approval": lambda world, text: world.readings.approve(text, (PROCEDURE,), who="ada"),
    "an edit": lambda world, text: world.readings.replace(
        text,
        Reading(reader=Reader.PERSON, procedures=(OTHER_PROCEDURE,)),
        who="ada",
        what=Happening.REPLACED,
    ),
    "another text": lambda world, _text: world.put(TEXT.replace("latch", "bolt")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_a_moment_ago_is_never_served_from_before(world, change):
    text = world.put()
    world.prepare()
    scorer, other = world.scorer(), world.scorer()
    for each in (scorer, other):
        each.score(score_request(world.page()))
    CHANGES[change](world, text)
    request = score_request(world.page())
    assert list(other.score(request).ranked) == anew(request)
    world.prepare()
    assert list(scorer.score(request).ranked) == anew(request)


def test_an_approval_that_is_undone_is_gone_from_the_scores(world):
    text = world.put()
    scorer = world.scorer()
    before = scorer.score(score_request(world.page()))
    world.readings.approve(text, (PROCEDURE,), who="ada")
    approved = scorer.score(score_request(world.page()))
    world.readings.undo(text, who="ada")
    assert approved.ranked[0].score.coherence != before.ranked[0].score.coherence
    assert scorer.score(score_request(world.page())) == before


def test_a_damaged_record_is_made_again_and_logged(world, judged):
    text = world.put()
    request = score_request(world.page())
    first = world.scorer().score(request)
    prepared = world.scorer().prepared
    key = prepared.key(request.candidates[0].workflow, request.pages)
    for damage in ("", "{", '{"page": 1}'):
        world.store.keep(text, prepared.version, {key: damage})
        with structlog.testing.capture_logs() as logged:
            assert world.scorer().score(request) == first
        assert [each["event"] for each in logged] == ["scorer.record_damaged"]
    assert len(judged) == 4


def test_another_fit_another_embedder_and_another_version_make_other_records(world):
    world.put()
    page = world.page()
    (workflow,) = (each.workflow for each in score_request(page).candidates)
    makers = [
        PageScoreCache(world.scorer()._score_alone, None, fit=fit, embedder=embedder)
        for fit, embedder in (("a", "e"), ("b", "e"), ("a", "f"))
    ]
    assert len({each.key(workflow, [page]) for each in makers}) == 3


def test_a_page_that_cannot_be_prepared_holds_up_no_other(world, monkeypatch):
    world.put()
    broken = TEXT.replace("fan", "belt")
    world.documents.put(
        ScreenedDocument(Document(id="belt.md", title="Belt", text=broken, content_hash="x"))
    )
    world.readings.put(hash_of(broken), Reading(reader=Reader.MODEL, procedures=(PROCEDURE,)))
    whole = ScorerService._score_alone

    def fails(self, workflow, pages):
        if pages[0].document_id == "belt.md":
            raise RuntimeError("a defect")
        return whole(self, workflow, pages)

    monkeypatch.setattr(ScorerService, "_score_alone", fails)
    world.prepare()
    assert world.store.waiting(world.scorer().prepared.version, 10) == {}
    request = score_request(world.page())
    key = world.scorer().prepared.key(request.candidates[0].workflow, request.pages)
    assert world.store.get_many([key])


def test_a_workflow_of_a_page_whose_text_is_not_at_hand_is_judged_with_the_request(world):
    world.put()
    page = world.page().model_copy(update={"text": ""})
    assert world.scorer()._look_up(score_request(page)) is None
    assert world.scorer().score(score_request(page)).ranked


def test_an_approved_and_an_unapproved_page_of_one_text_are_told_apart(world):
    world.put()
    page = world.page()
    vouched = ServedReading(
        reading=page.served.reading,
        approvals=(Approval(by="ada", at=datetime(2026, 1, 1, tzinfo=UTC)),),
    )
    approved = page.model_copy(update={"served": vouched})
    scorer = world.scorer()
    one, other = (scorer.score(score_request(each)).ranked[0] for each in (page, approved))
    assert one.score.coherence != other.score.coherence


def test_two_versions_side_by_side_do_not_undo_each_others_work(world):
    world.put()
    older, newer = world.scorer().prepared, world.scorer().prepared
    newer.version = "another"
    passes = [
        ScorePreparation(world.documents, world.readings, world.store, each)
        for each in (older, newer)
    ]
    for each in passes:
        while each.run():
            pass
    assert [each.run() for each in passes * 2] == [False] * 4
    world.readings.approve(world.put(), (PROCEDURE,), who="ada")
    assert [each.run() for each in passes] == [True, False]


def test_the_same_workflow_twice_is_scored_twice(world):
    world.put()
    request = score_request(world.page())
    twice = request.model_copy(update={"candidates": request.candidates * 2})
    one, other = world.scorer().score(twice).ranked
    assert one == other


def test_a_database_that_does_not_answer_costs_time_and_no_score(world, monkeypatch):
    world.put()
    request = score_request(world.page())

    def away(*_: object, **__: object) -> None:
        raise UnavailableError("the database did not answer")

    for name in ("get_many", "keep"):
        monkeypatch.setattr(SqlPreparedStore, name, away)
    assert list(world.scorer().score(request).ranked) == anew(request)
