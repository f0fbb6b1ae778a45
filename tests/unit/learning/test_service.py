"""Challengers are tried on later tickets, serve when these favour them, and go back."""

import pytest

from services.kit.fits.in_use import Fits, FitState, NoSuchFitError
from services.kit.sql.database import Database
from services.learning.service import SiteLearning, UnknownSubjectError
from tests.unit.learning.lessons_made import strong


@pytest.fixture
def lessons():
    """The tickets that have ended."""
    return []


@pytest.fixture
def fits():
    database = Database.memory()
    database.migrate("kit")
    yield Fits(database)
    database.close()


@pytest.fixture
def learning(fits, lessons):
    return SiteLearning(fits, lambda: list(lessons))


def run(learning):
    return next(each for each in learning.run() if each.name == "finding")


def wrong(first, last):
    return [strong(n, is_right=False) for n in range(first, last)]


def test_too_few_tickets_teach_nothing(learning, lessons):
    lessons += wrong(0, 4)
    assert "too few" in run(learning).happened


def test_a_challenger_waits_for_later_tickets(learning, lessons, fits):
    lessons += wrong(0, 20)
    progress = run(learning)
    assert progress.serving is None
    assert progress.shadow.basis["learned"] == 14
    assert "20 are awaited" in progress.happened
    assert run(learning).shadow.id == progress.shadow.id  # again changes nothing


def test_it_serves_once_they_favour_it(learning, lessons):
    lessons += wrong(0, 20)
    run(learning)
    lessons += wrong(20, 40)
    progress = run(learning)
    assert progress.happened.startswith("taken")
    assert progress.serving.basis["cases"] == 26
    assert progress.serving.basis["low"] > 0


def test_many_tickets_at_once_are_held_back_in_part(learning, lessons):
    lessons += wrong(0, 90)
    progress = run(learning)
    assert progress.happened.startswith("taken")
    assert (progress.serving.basis["learned"], progress.serving.basis["cases"]) == (60, 30)


def test_a_challenger_that_foretold_worse_is_refused(learning, lessons, fits):
    lessons += wrong(0, 20)
    run(learning)
    lessons += [strong(n, is_right=True) for n in range(20, 60)]
    assert "not taken" in run(learning).happened
    assert fits.in_state("finding", FitState.SERVING) is None


def test_a_challenger_that_later_tickets_do_not_decide_is_given_up(learning, lessons, fits):
    lessons += wrong(0, 20)
    first = run(learning).shadow
    lessons += [strong(n, is_right=n % 10 < 6) for n in range(20, 70)]
    assert "not taken" in run(learning).happened
    again = fits.in_state("finding", FitState.SHADOW)
    assert again is None or again.id != first.id


def test_what_serves_goes_back_in_one_step_and_is_not_taken_again(learning, lessons):
    lessons += wrong(0, 90)
    run(learning)
    assert learning.rollback("finding") is None
    assert run(learning).serving is None
    with pytest.raises(NoSuchFitError):
        learning.rollback("finding")


def test_what_is_tried_serves_on_somebodys_word(learning, lessons, fits):
    lessons += wrong(0, 20)
    run(learning)
    learning.promote("finding")
    assert fits.in_state("finding", FitState.SERVING)
    with pytest.raises(NoSuchFitError):
        learning.promote("finding")


def test_a_forgotten_ticket_is_forgotten_at_the_next_run(learning, lessons, fits):
    lessons += wrong(0, 90)
    first = run(learning).serving
    del lessons[3]
    progress = run(learning)
    assert "made anew without 1" in progress.happened
    assert progress.serving.body != first.body
    assert "T-3" not in progress.serving.basis["sources"]
    assert first.id not in [each.id for each in fits.history("finding")]


def test_where_all_of_them_are_forgotten_what_is_shipped_serves(learning, lessons):
    lessons += wrong(0, 90)
    run(learning)
    del lessons[:60]
    progress = run(learning)
    assert "as shipped again" in progress.happened
    assert progress.serving is None


def test_a_name_that_nothing_is_learned_under_is_refused(learning):
    with pytest.raises(UnknownSubjectError, match="finding, acceptance, boxes, got"):
        learning.rollback("forests")


def test_nothing_of_the_tickets_but_ids_and_numbers_is_kept(learning, lessons, fits):
    lessons += wrong(0, 90)
    run(learning)
    (stored,) = [each for each in fits.history("finding") if each.state is FitState.SERVING]
    assert "fan.md" not in stored.body
    assert set(stored.basis) >= {"learned", "until", "sources"}
