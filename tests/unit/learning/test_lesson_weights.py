"""A hundred alerts of one kind are no hundred proofs; who says the same of all proves nothing."""

from dataclasses import replace

import pytest

from services.contracts.adoption import Judgement
from services.learning.subject import weigh_lessons
from tests.unit.learning.lessons_made import strong


def test_tickets_of_one_kind_count_as_the_root_of_their_number():
    same = [replace(strong(n, is_right=True), kind="flap") for n in range(100)]
    counted = weigh_lessons([*same, strong(200, is_right=True)])
    assert sum(each.weight for each in counted.lessons) == pytest.approx(11)


def judged(number, verdict, by="ola"):
    lesson = strong(number, is_right=verdict is Judgement.ACCEPTED)
    return replace(lesson, judged_by=by, judgement=verdict)


@pytest.mark.parametrize("verdict", [Judgement.ACCEPTED, Judgement.REJECTED])
def test_who_says_the_same_of_everything_is_left_out(verdict):
    ticked = strong(100, is_right=True)
    weighing = weigh_lessons(
        [*(judged(n, verdict) for n in range(10)), judged(50, verdict, "kim"), ticked]
    )
    assert weighing.left_out == 10
    assert [each.lesson.source_id for each in weighing.lessons] == ["T-50", "T-100"]


def test_who_differs_once_is_heard():
    lessons = [judged(n, Judgement.ACCEPTED) for n in range(20)] + [judged(20, Judgement.REJECTED)]
    assert weigh_lessons(lessons).left_out == 0
