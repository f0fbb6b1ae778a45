"""Few cases change little, many change much, and no single one can pull as far as it likes."""

import numpy as np
import pytest

from services.learning.regression import (
    ANY,
    POSITIVE,
    ChoiceLesson,
    FittedWeights,
    fit_chance,
    fit_order,
    update_chance_covariance,
)

PRIOR = FittedWeights(np.array([0.0, 1.0]), np.diag([1.0, 1.0]))


def learned(cases, truth, prior=PRIOR):
    table = np.column_stack([np.ones(cases), np.zeros(cases)])
    ones = np.ones(cases)
    return fit_chance(table, ones * truth, ones, prior, [ANY, POSITIVE])


def test_nothing_learned_is_the_prior():
    weights = learned(0, 1.0)
    assert weights.mean == pytest.approx(PRIOR.mean, abs=1e-6)
    assert weights.covariance == pytest.approx(PRIOR.covariance, abs=1e-3)


def test_five_cases_change_little_and_five_hundred_much():
    few, many = learned(5, 1.0).mean[0], learned(500, 1.0).mean[0]
    assert 0.2 < few < 1.3
    assert many > 2.5


def test_what_was_known_surely_takes_more_to_change():
    sure = FittedWeights(PRIOR.mean, PRIOR.covariance / 100)
    assert learned(20, 1.0, sure).mean[0] < learned(20, 1.0).mean[0] / 3


def test_more_cases_are_surer():
    assert learned(500, 1.0).covariance[0, 0] < learned(5, 1.0).covariance[0, 0]


def test_a_weight_keeps_its_bound():
    table = np.column_stack([np.ones(200), np.tile([0.0, 1.0], 100)])
    truth = 1 - table[:, 1]
    assert fit_chance(table, truth, np.ones(200), PRIOR, [ANY, POSITIVE]).mean[1] == 0


def test_one_turned_label_pulls_less_than_its_surprise():
    table = np.column_stack([np.ones(101), np.zeros(101)])
    truth = np.ones(101)
    clean = fit_chance(table, truth, np.ones(101), PRIOR, [ANY, POSITIVE]).mean[0]
    truth[0] = 0
    one_wrong = fit_chance(table, truth, np.ones(101), PRIOR, [ANY, POSITIVE]).mean[0]
    assert one_wrong > 0.85 * clean


def test_an_order_lifts_what_was_right():
    prior = FittedWeights(np.array([1.0, 1.0]), np.eye(2))
    signs = np.array([[0.0, 1.0], [1.0, 0.0]])
    weights = fit_order([ChoiceLesson(signs, 1)] * 50, prior, [POSITIVE, POSITIVE])
    assert weights.mean[0] > 1.5
    assert weights.mean[1] < 0.5


def test_how_surely_something_is_known_leaves_it_as_it_is():
    table = np.column_stack([np.ones(50), np.tile([0.2, 0.8], 25)])
    weights = update_chance_covariance(table, np.tile([0.0, 1.0], 25), np.ones(50), PRIOR)
    assert weights.mean is PRIOR.mean
    assert 0 < weights.covariance[0, 0] < 1
