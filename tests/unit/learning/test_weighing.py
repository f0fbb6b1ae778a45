"""A hundred alerts of one kind are no hundred proofs; who says the same of all proves nothing."""

from dataclasses import replace

import pytest

from services.contracts.adoption import Judgement
from services.learning.weighing import weighed
from tests.unit.learning.lessons_made import strong


def test_tickets_of_one_kind_count_as_the_root_of_their_number():
    same = [replace(strong(n, is_right=True), kind="flap") for n in range(100)]
    counted = weighed([*same, strong(200, is_right=True)])
    assert sum(each.weight for each in counted.lessons) == pytest.approx(11)


def said(number, verdict, by="ola"):
    told = strong(number, is_right=verdict is Judgement.ACCEPTED)
    return replace(told, said_by=by, said=verdict)


@pytest.mark.parametrize("verdict", [Judgement.ACCEPTED, Judgement.REJECTED])
def test_who_says_the_same_of_everything_is_left_out(verdict):
    ticked = strong(100, is_right=True)
    found = weighed([*(said(n, verdict) for n in range(10)), said(50, verdict, "kim"), ticked])
    assert found.left_out == 10
    assert [each.lesson.source_id for each in found.lessons] == ["T-50", "T-100"]


def test_who_differs_once_is_heard():
    told = [said(n, Judgement.ACCEPTED) for n in range(20)] + [said(20, Judgement.REJECTED)]
    assert weighed(told).left_out == 0
