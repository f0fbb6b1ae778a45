"""What tickets teach of pages and of workflows."""

import math

import pytest

from services.learning.acceptance_calibration import AcceptanceCalibration
from services.learning.retrieval_calibration import RetrievalCalibration, sort_pages
from services.retrieval.calibration import Calibration
from services.scorer.chance import Chance
from tests.unit.learning.lessons_made import counted, lesson, page, strong, taken

FINDING, ACCEPTANCE = RetrievalCalibration(), AcceptanceCalibration()
SHIPPED, CHANCE = Calibration.shipped(), Chance.shipped()


def chance_of_strong(calibration):
    return math.exp(FINDING.log_likelihood(calibration, strong(0, is_right=True)))


def test_pages_that_turn_out_wrong_lower_the_chance():
    learned = FINDING.learn(SHIPPED, counted(strong(n, is_right=False) for n in range(40)))
    assert chance_of_strong(learned) < chance_of_strong(SHIPPED) - 0.2


def test_pages_that_turn_out_right_raise_it():
    learned = FINDING.learn(SHIPPED, counted(strong(n, is_right=True) for n in range(40)))
    assert chance_of_strong(learned) > chance_of_strong(SHIPPED)


def test_what_is_learned_of_text_leaves_alerts_as_they_are():
    learned = FINDING.learn(SHIPPED, counted(strong(n, is_right=False) for n in range(40)))
    assert learned.alerts == SHIPPED.alerts
    assert learned.text != SHIPPED.text


def second_is_right(number):
    first = page("loud.md", meaning=0.9, words=0.9, coverage=0.6)
    return lesson(number, first, page("told.md", coverage=0.9, runs=0.9), right="told.md")


def test_an_order_is_learned_only_where_later_tickets_are_served_better():
    few = FINDING.learn(SHIPPED, counted(second_is_right(n) for n in range(30)))
    assert few.text.order == SHIPPED.text.order
    many = FINDING.learn(SHIPPED, counted(second_is_right(n) for n in range(90)))
    assert sort_pages(many.text.order, second_is_right(0).pages)[0].document_id == "told.md"


def test_a_page_that_did_not_come_near_teaches_that_the_first_was_wrong():
    case = lesson(1, page("fan.md", meaning=0.5), right="elsewhere.md")
    assert FINDING.can_learn_from(case)
    assert FINDING.log_likelihood(SHIPPED, case) < 0


@pytest.mark.parametrize(
    ("case", "teaches"),
    [
        (lesson(1, page("a.md"), right="a.md"), True),
        (lesson(1, page("a.md"), wrong=["a.md"]), True),
        (lesson(1, page("a.md"), wrong=["b.md"]), False),
        (lesson(1, right="a.md"), False),
    ],
)
def test_a_ticket_teaches_where_it_is_known_whether_the_first_page_was_right(case, teaches):
    assert FINDING.can_learn_from(case) is teaches


def test_what_nothing_is_known_of_is_not_foretold():
    case = lesson(1, page("a.md", meaning=0.1), page("b.md", meaning=0.9), wrong=["a.md"])
    assert FINDING.log_likelihood(SHIPPED, case) is None


def test_workflows_that_are_taken_raise_their_chance():
    case = taken(0, is_accepted=True)
    learned = ACCEPTANCE.learn(CHANCE, counted(taken(n, is_accepted=True) for n in range(60)))
    assert ACCEPTANCE.log_likelihood(learned, case) > ACCEPTANCE.log_likelihood(CHANCE, case) + 0.5
    assert "60 tickets" in learned.provenance


def test_rules_never_speak_for_a_workflow_nor_a_score_against_it():
    lessons = [taken(n, is_accepted=n % 2 == 0, value=2.0 + n % 2 * 2) for n in range(100)]
    learned = ACCEPTANCE.learn(CHANCE, counted(lessons))
    assert learned.weights["read by rules"] <= 0
    assert min(w for name, w in learned.weights.items() if name != "read by rules") >= 0


def test_numbers_of_which_nobody_knows_how_sure_they_are_stay():
    bare = CHANCE.model_copy(update={"spread": type(CHANCE.spread)()})
    assert ACCEPTANCE.learn(bare, counted([taken(1, is_accepted=True)])) is bare
