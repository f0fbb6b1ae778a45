"""Two people at one ticket at random: nothing they wrote is lost, or stands under another step."""

from pathlib import Path

import pytest

from tests.harm.interleavings import measure


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_two_people_wrote_is_lost_or_misplaced(tmp_path: Path, seed: int) -> None:
    figures = measure(tmp_path, times=15, seed=seed, actions=24)
    assert figures["words"] > 100
    assert figures["ticks"] > 30
    assert figures["interleavings that lost"] == 0, figures
