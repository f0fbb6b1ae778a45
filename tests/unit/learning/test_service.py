"""Challengers are tried on later tickets, serve when these favour them, and go back."""

import pytest

from services.kit.fits.in_use import Fits, FitState, NoSuchFitError
from services.kit.sql.database import Database
from services.learning.service import Learning, UnknownSubjectError
from tests.unit.learning.lessons_made import strong


@pytest.fixture
def told():
    """The tickets that have ended."""
    return []


@pytest.fixture
def fits():
    database = Database.memory()
    database.migrate("kit")
    yield Fits(database)
    database.close()


@pytest.fixture
def learning(fits, told):
    return Learning(fits, lambda: list(told))


def run(learning):
    return next(each for each in learning.run() if each.name == "finding")


def wrong(first, last):
    return [strong(n, is_right=False) for n in range(first, last)]


def test_too_few_tickets_teach_nothing(learning, told):
    told += wrong(0, 4)
    assert "too few" in run(learning).happened


def test_a_challenger_waits_for_later_tickets(learning, told, fits):
    told += wrong(0, 20)
    found = run(learning)
    assert found.serving is None
    assert found.shadow.basis["learned"] == 14
    assert "20 are awaited" in found.happened
    assert run(learning).shadow.id == found.shadow.id  # again changes nothing


def test_it_serves_once_they_favour_it(learning, told):
    told += wrong(0, 20)
    run(learning)
    told += wrong(20, 40)
    found = run(learning)
    assert found.happened.startswith("taken")
    assert found.serving.basis["cases"] == 26
    assert found.serving.basis["low"] > 0


def test_many_tickets_at_once_are_held_back_in_part(learning, told):
    told += wrong(0, 90)
    found = run(learning)
    assert found.happened.startswith("taken")
    assert (found.serving.basis["learned"], found.serving.basis["cases"]) == (60, 30)


def test_a_challenger_that_foretold_worse_is_refused(learning, told, fits):
    told += wrong(0, 20)
    run(learning)
    told += [strong(n, is_right=True) for n in range(20, 60)]
    assert "not taken" in run(learning).happened
    assert fits.in_state("finding", FitState.SERVING) is None


def test_a_challenger_that_later_tickets_do_not_decide_is_given_up(learning, told, fits):
    told += wrong(0, 20)
    first = run(learning).shadow
    told += [strong(n, is_right=n % 10 < 6) for n in range(20, 70)]
    assert "not taken" in run(learning).happened
    again = fits.in_state("finding", FitState.SHADOW)
    assert again is None or again.id != first.id


def test_what_serves_goes_back_in_one_step_and_is_not_taken_again(learning, told):
    told += wrong(0, 90)
    run(learning)
    assert learning.back("finding") is None
    assert run(learning).serving is None
    with pytest.raises(NoSuchFitError):
        learning.back("finding")


def test_what_is_tried_serves_on_somebodys_word(learning, told, fits):
    told += wrong(0, 20)
    run(learning)
    learning.take("finding")
    assert fits.in_state("finding", FitState.SERVING)
    with pytest.raises(NoSuchFitError):
        learning.take("finding")


def test_a_forgotten_ticket_is_forgotten_at_the_next_run(learning, told, fits):
    told += wrong(0, 90)
    first = run(learning).serving
    del told[3]
    found = run(learning)
    assert "made anew without 1" in found.happened
    assert found.serving.body != first.body
    assert "T-3" not in found.serving.basis["sources"]
    assert first.id not in [each.id for each in fits.history("finding")]


def test_where_all_of_them_are_forgotten_what_is_shipped_serves(learning, told):
    told += wrong(0, 90)
    run(learning)
    del told[:60]
    found = run(learning)
    assert "as shipped again" in found.happened
    assert found.serving is None


def test_a_name_that_nothing_is_learned_under_is_refused(learning):
    with pytest.raises(UnknownSubjectError, match="finding, acceptance, boxes, got"):
        learning.back("forests")


def test_nothing_of_the_tickets_but_ids_and_numbers_is_kept(learning, told, fits):
    told += wrong(0, 90)
    run(learning)
    (stored,) = [each for each in fits.history("finding") if each.state is FitState.SERVING]
    assert "fan.md" not in stored.body
    assert set(stored.basis) >= {"learned", "until", "sources"}
