import random

import pytest

from evaluation.measures.harm import guard_harm, harm, same_steps
from evaluation.perturbations.kinds import Perturbation
from evaluation.perturbations.perturb import perturb
from tests.unit.evaluation.drawings import chart

FAN = chart(
    "A[Read the speeds] --> B{Is it loose?}",
    "B -->|yes| C[Push it in]",
    "B -->|no| D[Clean it]",
    "C --> E[Read again]",
    "D --> E",
)


def made(kind: Perturbation, severity: float = 0.01):
    return perturb(FAN, kind, severity, random.Random(1))


def test_what_says_the_same_does_no_harm():
    assert harm(FAN, FAN) == 0
    assert harm(FAN, made(Perturbation.REWORDED, 1.0)) == 0
    assert guard_harm(FAN, FAN) == 0


def test_exchanged_answers_leave_no_guard_and_keep_the_order():
    copy = made(Perturbation.SWAPPED)
    assert guard_harm(FAN, copy) == 4
    assert harm(FAN, copy) == 0.5


def test_contents_that_moved_are_known_by_their_words():
    copy = made(Perturbation.NEIGHBOUR)
    assert same_steps(FAN, copy)["C"] == "D"
    assert harm(FAN, copy) == harm(FAN, made(Perturbation.SWAPPED))


def test_a_lost_guard_is_counted_once():
    assert guard_harm(FAN, made(Perturbation.UNGUARDED)) == 1


@pytest.mark.parametrize("kind", [Perturbation.MISSING, Perturbation.PRECONDITION_LOST])
def test_more_that_is_lost_harms_more(kind: Perturbation):
    assert 0 < harm(FAN, made(kind)) < 1


def test_a_step_without_anything_else_has_no_fact():
    alone = chart("A[Push]")
    assert harm(alone, alone) == 0
