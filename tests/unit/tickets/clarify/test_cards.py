"""One of three: the closest pages of an unsure ticket, taken, changed, refused, and remembered."""

import time

import pytest
from sqlalchemy import func, select

from services.contracts.clarification import ClarificationAnswer
from services.contracts.retrieval import PageReading, RetrievedContext
from services.gateway.parts import create_question_policy
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.knowledge.model import Chunk, RetrievedChunk, Span
from services.tickets.clarify.answer_handler import AnswerHandler
from services.tickets.clarify.dialogue import Dialogue
from services.tickets.clarify.pages import NONE_OF_THESE, page_question
from services.tickets.page_quality.dismissals import Dismissals
from services.tickets.retention import Retention
from services.tickets.settings import GatewaySettings
from services.tickets.tables import PageWordRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import walk_again
from services.tickets.walk.fit import Thresholds
from services.tickets.walk.walk import NO_PAGE
from services.workflow.model import Citation
from tests.unit.tickets.clarify.charts import DISK, chart

UNSURE = Thresholds.shipped().unsure_from
POOL, ARRAY, FAN, LAMP = "Pool.md", "Array.md", "Fan.md", "Lamp.md"
SCORES = {POOL: 0.8, ARRAY: 0.7, FAN: 0.3, LAMP: 0.2}
ADA, BOB = (Caller(name, CallerKind.PERSON, f"person:{name}") for name in ("Ada", "Bob"))


def page(id_, score, text=""):
    title = id_.removesuffix(".md")
    return PageReading(
        document_id=id_, title=title, score=score, text=text or f"# {title}\n\nIt is broken.\n"
    )


def near(id_, score):
    title = id_.removesuffix(".md")
    text = "1. Look at it.\n\n2. Mend it."
    span = Span(document_id=id_, start_line=7, end_line=9)
    chunk = Chunk(id=id_, span=span, heading_path=(title, "Mending"), text=text)
    return RetrievedChunk(chunk=chunk, score=score)


def context(scores=SCORES, confidence=UNSURE, **texts):
    pages = tuple(page(id_, score, texts.get(id_[:-3], "")) for id_, score in scores.items())
    chunks = tuple(near(id_, score) for id_, score in scores.items())
    return RetrievedContext(pages=pages, chunks=chunks, confidence=confidence)


def workflow_of(id_):
    drawn = chart("A[Look] --> B{Is it red?}", "B -- Yes --> C[Mend it]", "B -- No --> C")
    origin = drawn.provenance.model_copy(update={"document_ids": (id_,)})
    return drawn.model_copy(update={"title": id_, "provenance": origin})


class Desk:
    """Tickets of one family, and people who answer."""

    def __init__(self, gateway):
        self.gateway = gateway
        gateway.retrieval.context = context()
        gateway.planner.workflows = [workflow_of(id_) for id_ in SCORES]
        asking = create_question_policy(GatewaySettings(_env_file=None), gateway.outbox, None)
        self.answering = AnswerHandler(gateway.database, gateway.outbox, asking)
        self.tickets = 0

    def new(self):
        self.tickets += 1
        body = {"id": f"T-{self.tickets}", "title": f"No space on db-{self.tickets}"}
        ticket_id = self.gateway.post(body)["id"]
        self.gateway.work()
        return ticket_id

    def question(self, ticket_id):
        return next(
            q for q in self.gateway.ticket(ticket_id)["clarifications"] if q["about"] == "pages"
        )

    def cards(self, ticket_id):
        return [card["document_id"] for card in self.question(ticket_id)["cards"]]

    def answer(self, ticket_id, person, page_id=None, **arguments):
        """Takes a page, or none of them."""
        question = self.question(ticket_id)
        cards = self.cards(ticket_id)
        number = cards.index(page_id) + 1 if page_id else len(cards) + 1
        choice = ClarificationAnswer(choice=number)
        with acting_as(person):
            turn = self.answering.answer(ticket_id, question["id"], choice, **arguments)
        self.gateway.work()
        return turn

    def shown(self, ticket_id):
        ticket = self.gateway.ticket(ticket_id)
        return ticket["candidates"][0]["title"] if ticket["candidates"] else ticket["reason"]

    def shown_first(self):
        return self.gateway.planner.requests[-1].pages[0].document_id

    def without(self):
        return set(self.gateway.retrieval.requests[-1].without)


@pytest.fixture
def desk(gateway):
    return Desk(gateway)


def test_an_unsure_ticket_is_asked_first_which_of_its_three_closest_pages_it_is(desk):
    turns = desk.gateway.ticket(desk.new())["clarifications"]
    (question,) = turns
    assert [card["document_id"] for card in question["cards"]] == [POOL, ARRAY, FAN]
    assert question["choices"] == ["Pool", "Array", "Fan", NONE_OF_THESE]
    card = question["cards"][1]
    assert (card["title"], card["heading_path"]) == ("Array", ["Array", "Mending"])
    assert (card["start_line"], card["end_line"]) == (7, 9)
    assert card["excerpt"] == "1. Look at it.\n2. Mend it."


def test_pages_of_a_question_came_near_and_the_one_that_is_chosen_is_confirmed(desk):
    ticket = desk.new()

    def uses():
        return desk.gateway.client.get("/v1/coverage/uses").json()

    assert [uses()["pages"][id_]["near"] for id_ in (POOL, ARRAY, FAN)] == [1, 1, 1]
    assert uses()["leading"] == []
    desk.gateway.planner.workflows = [cited(ARRAY)]
    desk.answer(ticket, ADA, ARRAY)
    assert uses()["pages"][ARRAY] == {"answered": 1, "near": 0}
    assert (uses()["leading"], uses()["answered"], uses()["near"]) == ([ARRAY], 1, 0)


def cited(id_):
    drawn = workflow_of(id_)
    cite = Citation(document_id=id_, start_line=1, end_line=2)
    steps = (drawn.steps[0].model_copy(update={"citations": (cite,)}), *drawn.steps[1:])
    return drawn.model_copy(update={"steps": steps})


def test_a_sure_ticket_is_not_asked_about_pages_that_are_far(desk):
    desk.gateway.retrieval.context = context(confidence=0.99)
    desk.gateway.planner.workflows = [DISK]
    (question,) = desk.gateway.ticket(desk.new())["clarifications"]
    assert question["about"] == "steps"


def test_one_page_alone_is_no_question():
    alone = context({POOL: 0.8, LAMP: 0.0})
    assert page_question(alone, "", steps=3, is_sure=False) is None


def test_pages_of_one_name_are_told_apart_by_their_ids():
    twins = [page(id_, 0.5).model_copy(update={"title": "Alerts"}) for id_ in ("a.md", "b.md")]
    question = page_question(RetrievedContext(pages=tuple(twins)), "", steps=1, is_sure=False)
    assert [choice.text for choice in question.choices[:2]] == ["Alerts (a.md)", "Alerts (b.md)"]
    assert Dialogue().with_answer(question, question.choices[1]).ruled_out == ("a.md",)


def test_a_page_without_a_passage_that_came_near_shows_its_first_lines():
    written = page(POOL, 0.8, "---\ntitle: Pool\n---\n# Pool\n\nIt is full.\n")
    shown = RetrievedContext(pages=(written, page(ARRAY, 0.5)))
    card = page_question(shown, "", steps=1, is_sure=False).cards[0]
    assert (card.heading_path, card.start_line, card.end_line) == ((), 4, 6)
    assert card.excerpt == "It is full."


def test_an_excerpt_reads_as_the_page_does():
    text = "# Pool\n> **Severity:** `high`\n```text\nno `space` left\n```\n"
    shown = RetrievedContext(pages=(page(POOL, 0.8, text), page(ARRAY, 0.5)))
    card = page_question(shown, "", steps=1, is_sure=False).cards[0]
    assert card.excerpt == "Severity: high\nno `space` left"


def test_the_page_that_is_taken_is_first_and_says_who_chose_it(desk):
    ticket_id = desk.new()
    turn = desk.answer(ticket_id, ADA, FAN)
    assert (turn.answer, turn.answered_by) == ("Fan", "Ada")
    assert desk.shown(ticket_id) == FAN
    assert desk.without() == {POOL, ARRAY}
    assert desk.shown_first() == FAN


def test_a_page_that_is_taken_is_shown_however_unlikely_it_is(desk):
    ticket_id = desk.new()
    desk.gateway.retrieval.context = context(confidence=0.0)
    desk.answer(ticket_id, ADA, FAN)
    assert (desk.shown(ticket_id), desk.gateway.ticket(ticket_id)["fit"]) == (FAN, "unsure")


def test_another_page_takes_the_place_of_the_first_and_the_same_changes_nothing(desk):
    ticket_id = desk.new()
    desk.answer(ticket_id, ADA, FAN)
    walks = len(desk.gateway.retrieval.requests)
    assert desk.answer(ticket_id, BOB, FAN).answered_by == "Ada"
    assert len(desk.gateway.retrieval.requests) == walks
    assert desk.answer(ticket_id, BOB, ARRAY).answered_by == "Bob"
    assert (desk.shown(ticket_id), desk.without()) == (ARRAY, {POOL, FAN})
    pages = [q for q in desk.gateway.ticket(ticket_id)["clarifications"] if q["cards"]]
    assert len(pages) == 1


def test_a_comment_that_is_read_again_takes_no_page_back(desk):
    ticket_id = desk.new()
    desk.answer(ticket_id, ADA, FAN)
    with pytest.raises(Exception, match="closed before"):
        desk.answer(ticket_id, BOB, ARRAY, is_anew=False)
    assert desk.shown(ticket_id) == FAN


def test_none_of_these_hands_over_and_is_not_asked_or_shown_again(desk):
    ticket_id = desk.new()
    desk.answer(ticket_id, ADA)
    ticket = desk.gateway.ticket(ticket_id)
    assert (ticket["status"], ticket["reason"]) == ("refused", NO_PAGE)
    assert desk.without() == {POOL, ARRAY, FAN}
    again(desk, ticket_id, "caught_up")
    assert desk.gateway.ticket(ticket_id)["status"] == "refused"


def test_who_has_it_made_again_sees_other_pages(desk):
    ticket_id = desk.new()
    desk.answer(ticket_id, ADA)
    again(desk, ticket_id, "renewed")
    assert desk.gateway.ticket(ticket_id)["status"] == "planned"
    assert desk.without() == {POOL, ARRAY, FAN}


def again(desk, ticket_id, kind):
    with desk.gateway.database.session() as session:
        add_events(session, ticket_id, [Note(kind, {"by": "Ada"})])
        assert walk_again(session, desk.gateway.outbox, ticket_id)
    desk.gateway.work()


def test_a_page_is_brought_back_after_none_of_them(desk):
    ticket_id = desk.new()
    desk.answer(ticket_id, ADA)
    desk.answer(ticket_id, BOB, ARRAY)
    assert (desk.shown(ticket_id), desk.without()) == (ARRAY, {POOL, FAN})


# The family.


def test_a_page_that_two_people_refuse_stands_behind_the_others_of_its_family(desk):
    desk.answer(desk.new(), ADA)
    desk.answer(desk.new(), ADA)
    by_one_person = desk.new()
    assert desk.cards(by_one_person) == [POOL, ARRAY, FAN]
    desk.gateway.retrieval.context = context({POOL: 0.8, ARRAY: 0.7})
    desk.answer(desk.new(), BOB)
    desk.gateway.retrieval.context = context()
    cards = desk.question(desk.new())["cards"]
    assert [card["document_id"] for card in cards[:2]] == [FAN, LAMP]
    assert {card["document_id"] for card in cards[2:]} == {POOL, ARRAY}
    assert [card["refused_by"] for card in cards] == [[], [], ["Ada", "Bob"], ["Ada", "Bob"]]
    assert desk.shown_first() == FAN
    other = desk.gateway.post({"id": "O-1", "title": "Fan lost"})["id"]
    desk.gateway.work()
    assert desk.cards(other) == [POOL, ARRAY, FAN]
    assert desk.cards(by_one_person) == [POOL, ARRAY, FAN]


def refused_by_two(desk):
    desk.answer(desk.new(), ADA)
    desk.answer(desk.new(), BOB)
    ticket_id = desk.new()
    assert (desk.shown_first(), len(desk.cards(ticket_id))) == (LAMP, 4)
    return ticket_id


def test_one_tap_brings_a_refused_page_back_for_the_family(desk):
    ticket_id = refused_by_two(desk)
    desk.answer(ticket_id, BOB, ARRAY)
    assert desk.shown(ticket_id) == ARRAY
    assert desk.cards(desk.new())[:2] == [ARRAY, LAMP]


def test_a_page_that_changes_begins_anew(desk):
    refused_by_two(desk)
    desk.gateway.retrieval.context = context(Pool="# Pool\n\nWritten anew.\n")
    assert desk.cards(desk.new())[:2] == [POOL, LAMP]


def test_a_page_that_people_took_stands_first_where_it_comes_near(desk):
    desk.answer(desk.new(), ADA, ARRAY)
    desk.answer(desk.new(), ADA, ARRAY)
    assert desk.cards(desk.new()) == [POOL, ARRAY, FAN], "one person alone moves no page"
    desk.answer(desk.new(), BOB, ARRAY)
    desk.answer(desk.new(), ADA, FAN)
    assert desk.cards(desk.new()) == [ARRAY, POOL, FAN]
    assert desk.shown_first() == ARRAY
    assert desk.gateway.planner.requests[-1].context.confidence == UNSURE


def words(desk):
    with desk.gateway.database.session() as session:
        return session.scalar(select(func.count()).select_from(PageWordRow))


def test_another_answer_takes_back_the_words_of_the_first(desk):
    ticket_id = desk.new()
    desk.answer(ticket_id, ADA)
    assert words(desk) == 3
    desk.answer(ticket_id, ADA, ARRAY)
    assert words(desk) == 1
    desk.answer(ticket_id, BOB, POOL)
    assert words(desk) == 2


def test_words_go_with_their_pages_and_when_tickets_of_their_time_go(desk, monkeypatch):
    desk.answer(desk.new(), ADA)
    kept = [page(id_, 1.0).model_copy(update={"document_id": id_}) for id_ in (POOL, ARRAY)]
    monkeypatch.setattr(
        "services.tickets.page_quality.dismissals.all_documents",
        lambda _ingestion: [type("Document", (), {"id": each.document_id}) for each in kept],
    )
    Dismissals(desk.gateway.database).forget_gone(None)
    assert words(desk) == 2
    later = time.time() + 31 * 86_400
    Retention(desk.gateway.database, 30, clock=lambda: later).purge()
    assert words(desk) == 0


# The page.


def questions_part(desk, ticket_id):
    page = desk.gateway.client.get(f"/tickets/{ticket_id}").text
    return page.partition('id="questions"')[2].partition("<!-- end -->")[0]


def test_the_cards_stand_on_the_page_with_a_button_each(desk):
    text = questions_part(desk, desk.new())
    assert text.count('class="page-card') == 3 + 1
    assert "Array › Mending" in text
    assert 'href="/sources/Array.md?lines=7-9"' in text
    assert text.count("Take this page") == 3
    assert '<button type="submit" name="choice" value="4">None of these: hand over' in text
    assert text.count("Shown below") == 1


def test_the_other_pages_stay_in_reach_after_an_answer(desk):
    ticket_id = desk.new()
    desk.answer(ticket_id, ADA, ARRAY)
    text = questions_part(desk, ticket_id)
    assert "Ada chose this page" in " ".join(text.split())
    assert '<details class="other-pages" id="other-pages"><summary>Other pages' in text
    assert text.count("Take this page") == 2
    question = desk.question(ticket_id)
    form = f"/tickets/{ticket_id}/clarifications/{question['id']}/answers"
    assert desk.gateway.client.post(form, data={"choice": "3"}).status_code == 200
    desk.gateway.work()
    assert desk.shown(ticket_id) == FAN


def test_what_a_page_says_is_escaped_on_its_card(desk):
    hostile = page(POOL, 0.8).model_copy(update={"title": "<b>Pool</b>"})
    desk.gateway.retrieval.context = RetrievedContext(
        pages=(hostile, page(ARRAY, 0.5, "Never `<script>alert(1)</script>` it.\n")),
        chunks=(near(POOL, 0.8),),
        confidence=UNSURE,
    )
    text = questions_part(desk, desk.new())
    assert "&lt;b&gt;Pool" in text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


DOUBTS = ("not sure that it is the one", "fits nearly as well", "was found to be closer")


def test_a_page_that_somebody_took_stands_without_the_doubts_that_it_is_the_one(desk):
    ticket_id = desk.new()
    page = desk.gateway.client.get(f"/tickets/{ticket_id}").text
    assert DOUBTS[0] in page
    assert 'class="against"' in page
    desk.answer(ticket_id, ADA, FAN)
    assert desk.gateway.ticket(ticket_id)["verdict"] == "closest"
    page = desk.gateway.client.get(f"/tickets/{ticket_id}").text
    assert ">The page that Ada chose</h2>" in page
    assert ">page chosen by Ada</span>" in page
    assert [doubt for doubt in DOUBTS if doubt in page.partition('id="candidates"')[0]] == []
    assert 'class="against"' not in page
    others = desk.gateway.ticket(ticket_id)["candidates"][1:]
    page = desk.gateway.client.get(f"/tickets/{ticket_id}?candidate={others[0]['id']}").text
    assert DOUBTS[0] in page.partition('id="candidates"')[0]


def test_who_took_the_page_is_told_so(desk):
    ticket_id = desk.new()
    form = f"/tickets/{ticket_id}/clarifications/{desk.question(ticket_id)['id']}/answers"
    desk.gateway.client.post(form, data={"choice": "3"})
    desk.gateway.work()
    assert desk.shown(ticket_id) == FAN
    page = desk.gateway.client.get(f"/tickets/{ticket_id}").text
    assert ">The page that you chose</h2>" in page


def test_a_page_may_be_taken_after_the_question_was_dismissed(desk):
    ticket_id = desk.new()
    with acting_as(ADA):
        desk.answering.dismiss(ticket_id)
    assert desk.question(ticket_id)["state"] == "dismissed"
    turn = desk.answer(ticket_id, ADA, ARRAY)
    assert (turn.state, desk.shown(ticket_id)) == ("answered", ARRAY)
