import random

import pytest

from services.ingestion.jobs.state import TimeLeft


class Clock:
    def __init__(self):
        self.moment = 0.0

    def __call__(self):
        return self.moment


def run(paces, each=1000.0):
    """What is told after each piece of work, beside what it then really takes."""
    clock = Clock()
    left = TimeLeft(each * len(paces), now=clock)
    ends, estimates = sum(paces), []
    for pace in paces:
        clock.moment += pace
        left.add(each)
        estimates.append((left.seconds, ends - clock.moment))
    return estimates


def test_nothing_is_told_before_there_is_a_pace():
    assert TimeLeft(100.0, now=Clock()).seconds is None
    assert run([1.0] * 100)[1][0] is None


def test_half_way_it_is_true_to_a_quarter_though_the_pace_is_uneven():
    chance = random.Random(1)
    paces = [chance.uniform(0.3, 3.0) for _ in range(200)]
    estimated, real = run(paces)[100]
    assert estimated == pytest.approx(real, rel=0.25)


def test_a_machine_that_became_slower_is_believed():
    estimated, real = run([1.0] * 60 + [4.0] * 60)[79]
    assert estimated == pytest.approx(real, rel=0.25)


def test_what_needs_no_work_takes_no_time():
    clock = Clock()
    left = TimeLeft(300.0, now=clock)
    for _ in range(10):
        clock.moment += 1.0
        left.add(10.0)
    left.drop(150.0)
    assert left.seconds == pytest.approx(5.0)


def test_it_runs_down_while_a_piece_of_work_lasts():
    clock = Clock()
    left = TimeLeft(100.0, now=clock)
    clock.moment = 10.0
    left.add(50.0)
    clock.moment = 13.0
    assert left.seconds == pytest.approx(7.0)
    clock.moment = 30.0
    assert left.seconds == 0.0
