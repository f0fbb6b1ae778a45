import pytest

from evaluation.benches.scoring.scorer_setup import Choice, ChoiceError
from evaluation.material.pairs import Pair


def test_severities_are_read_and_wrong_ones_refused():
    none: list[Pair] = []
    assert Choice.of(none, "0.3, 0.5", draws=1, seed=3).severities == (0.3, 0.5)
    with pytest.raises(ChoiceError):
        Choice.of(none, "x", draws=1, seed=0)
