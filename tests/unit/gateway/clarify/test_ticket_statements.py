from services.gateway.clarify.branches import branch_questions
from services.gateway.clarify.dialogue import Dialogue
from services.gateway.clarify.ticket_statements import TicketStatements
from tests.unit.gateway.clarify.charts import DISK

FULL, SNAPSHOT = "Is the log partition full?", "Does a snapshot hold deleted blocks?"


def test_what_a_ticket_says_word_by_word_is_told():
    assert TicketStatements("The log partition is full since noon").open([FULL, SNAPSHOT]) == [
        SNAPSHOT
    ]


def test_a_deed_of_the_same_kind_is_told():
    said = TicketStatements("leaf-3 drops frames\nAlready power-cycled it, no change.")
    asked = ["Has the switch been restarted?", "Has the cable been replaced?"]
    assert said.open(asked) == ["Has the cable been replaced?"]


def test_an_empty_ticket_tells_nothing():
    assert TicketStatements("").open([FULL]) == [FULL]
    assert TicketStatements("").open([]) == []


def test_no_branch_is_asked_for_that_the_ticket_tells():
    asked = Dialogue(ticket_text="The log partition is full since noon")
    questions = branch_questions(DISK, asked)
    assert FULL not in [text for question in questions for text in question.decisions]
    assert SNAPSHOT in [text for question in questions for text in question.decisions]
