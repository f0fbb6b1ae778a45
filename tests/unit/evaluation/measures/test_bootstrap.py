import numpy as np
import pytest

from evaluation.measures.bootstrap import intervals


def test_the_mean_counts_every_stratum_the_same():
    strata = [np.array([[10.0]] * 2), np.array([[40.0]] * 20)]
    (interval,) = intervals(strata, 0)
    assert interval.mean == interval.low == interval.high == 25


def test_an_interval_is_as_wide_as_theory_says():
    rng = np.random.default_rng(3)
    values = rng.normal(50, 10, size=(400, 1))
    (interval,) = intervals([values], 0)
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)
    assert interval.low < interval.mean < interval.high


def test_a_difference_that_is_the_same_in_every_pair_has_no_width():
    rng = np.random.default_rng(3)
    one = rng.normal(50, 10, size=(30, 1))
    first, second, apart = intervals([np.hstack([one, one + 2, np.full_like(one, 2.0)])], 0)
    assert second.low - first.low == pytest.approx(2)
    assert (apart.low, apart.high) == (2, 2)


def test_the_same_seed_gives_the_same_interval_and_another_gives_another():
    values = [np.random.default_rng(3).normal(50, 10, size=(12, 1))]
    assert intervals(values, 1) == intervals(values, 1)
    assert intervals(values, 1) != intervals(values, 2)


def test_pairs_are_drawn_within_their_stratum():
    strata = [np.full((6, 1), 0.0), np.full((6, 1), 100.0)]
    (interval,) = intervals(strata, 0)
    assert (interval.low, interval.high) == (50, 50)


def test_empty_strata_do_not_count():
    assert intervals([np.empty((0, 1)), np.full((2, 1), 7.0)], 0)[0].mean == 7
    assert intervals([np.empty((0, 1))], 0) == []
