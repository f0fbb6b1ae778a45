from services.tickets.clarify.branches import branch_questions, list_unanswered
from services.tickets.clarify.dialogue import Dialogue
from tests.unit.tickets.clarify.charts import DISK

FULL, SNAPSHOT = "Is the log partition full?", "Does a snapshot hold deleted blocks?"


def test_what_a_ticket_says_word_by_word_is_no_open_question():
    questions = [FULL, SNAPSHOT]
    assert list_unanswered("The log partition is full since noon", questions) == [SNAPSHOT]


def test_a_deed_of_the_same_kind_is_no_open_question():
    ticket_text = "leaf-3 drops frames\nAlready power-cycled it, no change."
    questions = ["Has the switch been restarted?", "Has the cable been replaced?"]
    assert list_unanswered(ticket_text, questions) == ["Has the cable been replaced?"]


def test_an_empty_ticket_tells_nothing():
    assert list_unanswered("", [FULL]) == [FULL]
    assert list_unanswered("", []) == []


def test_no_branch_is_asked_for_that_the_ticket_tells():
    dialogue = Dialogue(ticket_text="The log partition is full since noon")
    questions = branch_questions(DISK, dialogue)
    assert FULL not in [text for question in questions for text in question.decisions]
    assert SNAPSHOT in [text for question in questions for text in question.decisions]
