"""A challenger is better only where its interval says so."""

from services.learning.comparison import LEAST_CASES, ComparisonOutcome, compare
from services.learning.retrieval_calibration import RetrievalCalibration
from services.retrieval.calibration import Calibration
from tests.unit.learning.lessons_made import counted, strong

SHIPPED = Calibration.shipped()
WRONG = counted(strong(n, is_right=False) for n in range(60))
CAREFUL = RetrievalCalibration().learn(SHIPPED, WRONG)


def later(number, *, is_right):
    return counted(strong(100 + n, is_right=is_right) for n in range(number))


def test_what_foretold_better_is_better_and_the_other_way_round():
    cases = later(40, is_right=False)
    assert (
        compare(RetrievalCalibration(), CAREFUL, SHIPPED, cases).outcome is ComparisonOutcome.BETTER
    )
    assert (
        compare(RetrievalCalibration(), SHIPPED, CAREFUL, cases).outcome is ComparisonOutcome.WORSE
    )


def test_on_few_tickets_nothing_is_decided():
    cases = later(LEAST_CASES - 1, is_right=False)
    assert (
        compare(RetrievalCalibration(), CAREFUL, SHIPPED, cases).outcome is ComparisonOutcome.OPEN
    )
    assert compare(RetrievalCalibration(), CAREFUL, SHIPPED, []).outcome is ComparisonOutcome.OPEN


def test_tickets_that_disagree_leave_it_open():
    cases = counted(strong(100 + n, is_right=n % 3 == 0) for n in range(36))
    assert (
        compare(RetrievalCalibration(), CAREFUL, SHIPPED, cases).outcome is ComparisonOutcome.OPEN
    )


def test_many_tickets_of_one_kind_are_one_proof():
    cases = [
        each.__class__(each.lesson.__class__(**{**vars(each.lesson), "kind": "flap"}))
        for each in later(40, is_right=False)
    ]
    assert (
        compare(RetrievalCalibration(), CAREFUL, SHIPPED, cases).outcome is ComparisonOutcome.OPEN
    )
