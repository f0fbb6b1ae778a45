"""Answers that come as comments of a ticket's own system, and comments that answer nothing."""

import json

import pytest

from services.contracts.clarification import Clarification, ClarificationAnswer
from services.tickets.clarify.comment_reader import parse_comment
from services.tickets.ticket import comments as kept
from services.tickets.ticket.comments import Comment
from services.tickets.ticket.events import Events
from tests.unit.tickets.clarify.charts import DISK

ISSUE = {"key": "DB-7", "fields": {"summary": "No space on db-7", "description": "Writes fail."}}
COMMENTED = {"event": "comment", "id": "T-1"}


@pytest.fixture
def ticket_id(gateway):
    """A ticket of Jira with its first workflow and an open question."""
    gateway.planner.workflows = [DISK]
    ticket_id = gateway.post({"webhookEvent": "jira:issue_created", "issue": ISSUE})["id"]
    gateway.work()
    return ticket_id


def comment(gateway, text, id_="1", **author):
    body = {"id": id_, "body": text, "author": author or {"displayName": "Mila Roth"}}
    return gateway.post({"webhookEvent": "comment_created", "issue": ISSUE, "comment": body})


def work_off(gateway):
    while gateway.work():
        pass


def turns(gateway, ticket_id):
    clarifications = gateway.ticket(ticket_id)["clarifications"]
    return [(turn["state"], turn["answer"]) for turn in clarifications]


def events(gateway, ticket_id, kind):
    history = Events(gateway.database).after(0, ticket_id=ticket_id)
    return [event.facts for event in history if event.kind == kind]


def test_a_comment_that_answers_walks_its_ticket_again(gateway, ticket_id):
    accepted = comment(gateway, "Had a look.\nAnswer: 2")
    assert (accepted["id"], accepted["tickets"][0]["created"]) == (ticket_id, False)
    work_off(gateway)
    answered, following = turns(gateway, ticket_id)[0], turns(gateway, ticket_id)[1:]
    assert answered == ("answered", "No")
    assert all(state == "open" for state, _ in following)
    sent = gateway.planner.requests[-1].ticket.description
    assert sent == "Writes fail."
    (stored,) = gateway.ticket(ticket_id)["comments"]
    assert (stored["turn"], stored["author"], stored["source"]) == (1, "Mila Roth", "jira")
    assert events(gateway, ticket_id, "commented") == []


def test_the_audit_log_names_who_answered(gateway, ticket_id):
    comment(gateway, "answer: 2")
    work_off(gateway)
    lines = gateway.client.get("/v1/audit", params={"action": "ticket.answered"}).json()["lines"]
    assert [(line["who"], line["kind"]) for line in lines] == [("Mila Roth (jira)", "source")]


def test_a_comment_that_answers_nothing_is_kept_and_shown(gateway, ticket_id):
    comment(gateway, "Looking at <b>it</b> now")
    work_off(gateway)
    assert turns(gateway, ticket_id) == [("open", "")]
    (facts,) = events(gateway, ticket_id, "commented")
    assert facts == {"author": "Mila Roth", "text": "Looking at <b>it</b> now", "source": "jira"}
    page = gateway.client.get(f"/tickets/{ticket_id}").text
    assert "Looking at &lt;b&gt;it&lt;/b&gt; now" in page
    assert "Mila Roth" in page


def test_a_number_alone_is_no_answer_to_what_nobody_was_shown(gateway, ticket_id):
    comment(gateway, "2")
    work_off(gateway)
    assert turns(gateway, ticket_id) == [("open", "")]


def test_the_same_comment_counts_once_even_after_the_next_question(gateway, ticket_id):
    comment(gateway, "answer: 2")
    work_off(gateway)
    assert len(turns(gateway, ticket_id)) == 2
    for _ in range(3):
        comment(gateway, "answer: 2")
        work_off(gateway)
    assert [state for state, _ in turns(gateway, ticket_id)] == ["answered", "open"]
    assert len(gateway.ticket(ticket_id)["comments"]) == 1


def test_a_process_that_died_after_its_answer_does_not_answer_the_next_question(gateway, ticket_id):
    comment(gateway, "answer: 2")
    work_off(gateway)
    gateway.comments.run(ticket_id, "1")
    assert [state for state, _ in turns(gateway, ticket_id)] == ["answered", "open"]
    assert events(gateway, ticket_id, "commented") == []


def test_a_comment_makes_no_ticket(gateway):
    answered = comment(gateway, "answer: 2")
    assert answered["tickets"] == []
    assert answered["ignored"] == ["a comment on a ticket that is not known here"]
    assert gateway.client.get("/v1/tickets").json()["tickets"] == []


def test_a_comment_that_comes_late_is_kept_as_a_comment(gateway, ticket_id):
    comment(gateway, "answer: 1")
    gateway.client.post(f"/v1/tickets/{ticket_id}/clarifications/dismissals", json={})
    work_off(gateway)
    assert turns(gateway, ticket_id) == [("dismissed", "")]
    assert len(events(gateway, ticket_id, "commented")) == 1
    assert gateway.ticket(ticket_id)["comments"][0]["turn"] is None


def test_of_two_at_once_the_second_is_kept_as_a_comment(gateway, ticket_id):
    comment(gateway, "answer: 1", "1")
    comment(gateway, "answer: 2", "2")
    work_off(gateway)
    assert turns(gateway, ticket_id)[0] == ("answered", "Yes")
    assert len(turns(gateway, ticket_id)) == 1
    (facts,) = events(gateway, ticket_id, "commented")
    assert facts["text"] == "answer: 2"


def test_who_does_not_know_is_asked_the_next(gateway, ticket_id):
    comment(gateway, "answer: unknown")
    work_off(gateway)
    assert [state for state, _ in turns(gateway, ticket_id)] == ["unknown", "open"]


def test_a_generic_systems_comments_answer_too(gateway):
    gateway.planner.workflows = [DISK]
    ticket_id = gateway.post({"id": "T-1", "title": "No space"})["id"]
    gateway.work()
    gateway.post({**COMMENTED, "comment": {"id": "9", "text": "answer: own words", "author": "M"}})
    work_off(gateway)
    assert turns(gateway, ticket_id) == [("open", "")]
    assert gateway.ticket(ticket_id)["clarifications"][0]["said"] == ["own words"]


def test_a_long_discussion_is_bounded(gateway, ticket_id, monkeypatch):
    monkeypatch.setattr(kept, "MOST", 3)
    for n in range(5):
        comment(gateway, "x" * 9000, str(n))
    work_off(gateway)
    comments = gateway.ticket(ticket_id)["comments"]
    assert len(comments) == 3
    assert max(len(each["text"]) for each in comments) == 4000
    assert max(len(facts["text"]) for facts in events(gateway, ticket_id, "commented")) == 300


def test_comments_go_with_their_ticket(gateway, ticket_id):
    from services.tickets.retention import Retention

    comment(gateway, "Looking")
    work_off(gateway)
    assert Retention(gateway.database, 1, clock=lambda: 4e9).purge().tickets == 1
    with gateway.database.session() as session:
        assert kept.list_comments(session, ticket_id) == ()
        delivered = Comment("jira", "DB-7", "x", "", "2")
    assert delivered.id == "2"


# What is an answer.

YES_NO = ("Yes", "No")
OTHERS = ("Is the log full? Yes", "storage", "None of these")


def question(*choices):
    return Clarification(
        id="q",
        ticket_id="t",
        turn=1,
        state="open",
        question="?",
        choices=choices,
        about="steps",
        gain=1.0,
        asked_at="2025-01-01T00:00:00Z",
    )


@pytest.mark.parametrize(
    ("text", "choices", "fields"),
    [
        ("answer: 2", OTHERS, {"choice": 2}),
        ("  *Answer:* 2.", OTHERS, {"choice": 2}),
        ("ANSWER : Storage", OTHERS, {"text": "Storage"}),
        ("answer: 9", OTHERS, {"text": "9"}),
        ("answer:\nthe audit trail", OTHERS, {"text": "the audit trail"}),
        ("answer: I don't know", OTHERS, {"unknown": True}),
        ("> FlowXpert: Question\n> 1) x\n\nanswer: 1", OTHERS, {"choice": 1}),
        ("> answer: 1", OTHERS, None),
        ("answer:", OTHERS, None),
        ("(2)", OTHERS, {"choice": 2}),
        ("#2", OTHERS, {"choice": 2}),
        ("4", OTHERS, None),
        ("2 of the disks are full", OTHERS, None),
        ("is the log full - yes!", OTHERS, {"text": "is the log full - yes!"}),
        ("Yes, it is down", YES_NO, {"text": "Yes, it is down"}),
        ("no", YES_NO, {"text": "no"}),
        ("No progress yet", YES_NO, None),
        ("not sure, looking", YES_NO, None),
        ("yes", OTHERS, None),
        ("Thanks, the answer was clear", YES_NO, None),
        ("", YES_NO, None),
    ],
)
def test_what_a_comment_answers(text, choices, fields):
    answer = parse_comment(text, question(*choices), is_question_shown=True)
    assert answer == (ClarificationAnswer(**fields) if fields else None)


@pytest.mark.parametrize("text", ["2", "storage", "yes"])
def test_without_the_word_only_what_was_told_is_answered(text):
    assert parse_comment(text, question(*OTHERS, *YES_NO), is_question_shown=False) is None
    assert parse_comment(f"answer: {text}", question(*OTHERS), is_question_shown=False)


def test_a_comment_of_many_lines_is_read_in_linear_time():
    text = json.dumps("answer " * 500 + "_* " * 500)
    assert parse_comment(text, question(*OTHERS), is_question_shown=True) is None
